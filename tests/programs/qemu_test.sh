#!/usr/bin/env bash
# QEMU moves a machine, with its memory, over RDMA to another QEMU.
. tests/programs/lib.sh
need qemu-system-x86_64 stdbuf
together=2
memory=$((64 << 20))

# machine NAME OPTION...: one that never runs, with its monitor's commands from a pipe that $orders_NAME writes to
machine() {
  local name=$1
  shift
  mkfifo "$work/$name.orders"
  start "$name" sh -c 'exec "$@" <"$0"' "$work/$name.orders" qemu-system-x86_64 -machine pc,accel=tcg -m "${memory}B" \
    -S -nodefaults -display none -monitor stdio "$@"
  exec {orders}>"$work/$name.orders"
  declare -g "orders_$name=$orders" "$name=$pid"
}

order() { # NAME COMMAND...
  local -n to=orders_$1
  printf '%s\n' "${@:2}" >&"$to"
}

# move CAPABILITY=STATE: what is in the memory of the one is in that of the other afterwards
move() {
  take_port
  # Pages of one repeated byte are not moved by RDMA.
  head -c $((8 << 20)) /dev/urandom >"$work/pages"
  machine there -incoming defer
  machine here -device loader,file="$work/pages",addr=0x1000000,force-raw=on
  order there "migrate_set_capability ${1/=/ }" "migrate_incoming rdma:$host:$port"
  await_listener tcp "$host" "$port" "$there" || fail "nobody waits for the machine"
  order here "migrate_set_capability ${1/=/ }" "migrate rdma:$host:$port" 'info migrate' \
    "pmemsave 0 $memory \"$work/here.memory\"" quit
  finish "$here"
  expect_status 'where it came from' 0 $?
  expect_line here '^Migration status: completed'
  order there "pmemsave 0 $memory \"$work/there.memory\"" quit
  finish "$there"
  expect_status 'where it went' 0 $?
  cmp "$work"/{here,there}.memory || fail "its memory has changed"
  cmp -n $((8 << 20)) "$work/pages" "$work/there.memory" 0 $((16 << 20)) || fail "its memory is not what was loaded"
}

case_a_machine_is_moved() { move rdma-pin-all=off; }

case_a_machine_whose_memory_is_registered_at_once_is_moved() { move rdma-pin-all=on; }

run_cases "$@"
