#!/usr/bin/env bash
# Programs with two devices in real time: each device works, one fails while the other goes on, and a recording has a
# lane for each.
. tests/programs/lib.sh
need rping ibv_devices ibv_rc_pingpong ib_write_bw stdbuf flock

second=127.0.1.1 # the address of anyrdma1
rails=(--rails 2)

# A server on each device, then both clients as one program; $server0, $server1 and $pid.
pairs() { # COUNT
  local rail
  fault_options=("${rails[@]}")
  start_server server0 "$host:7174" rping -s -a "$host" -C "$1"
  server0=$pid
  start_server server1 "$second:7175" rping -s -a "$second" -p 7175 -C "$1"
  server1=$pid
  fault_options+=(${client_options[@]+"${client_options[@]}"})
  start client sh -c "rping -c -a $host -C $1 & first=\$!
    rping -c -a $second -p 7175 -C $1; echo rail1 ended with \$?
    wait \$first; echo rail0 ended with \$?"
  fault_options=()
}

case_two_pairs_connect_over_two_devices() {
  local client_options=(--record "$work/client" --host client)
  mkdir "$work/client"
  pairs 20
  finish "$pid"
  expect_line client '^rail0 ended with 0$'
  expect_line client '^rail1 ended with 0$'
  finish "$server0"
  expect_status server0 0 $?
  finish "$server1"
  expect_status server1 0 $?
  "$anyrdma" trace merge "$work/merged" "$work/client" >"$work/merge.log" 2>&1 || fail "merge: $?"
  "$anyrdma" trace "$work/merged" --json >"$work/lanes.log" || fail "trace: $?"
  "$anyrdma" trace "$work/merged" --html "$work/page.html" || fail "no page"
  for device in anyrdma0 anyrdma1; do
    expect_line lanes "\"of\":\"device\",\"name\":\"client/$device\""
    grep -F "client/$device" "$work/page.html" >/dev/null || fail "the page has no lane for $device"
  done
  "$anyrdma" check "$work/client" >"$work/check.log" 2>&1
  expect_status check 0 $?
}

# The plan is executed in both of the client's processes, each of which has both devices.
one_fails() { # PLAN RAIL OTHER
  printf '%s\n' "$1" >"$work/plan"
  local client_options=(--faults "$work/plan" --host client)
  pairs 400
  finish "$pid"
  expect_line client "^rail$3 ended with 0\$"
  expect_line client "^rail$2 ended with [1-9]"
  expect_line client "planned 1, armed [0-9]+, fired 2, observed 2: $1\$"
  kill "$server0" "$server1" 2>/dev/null
}

case_first_device_is_removed_and_the_second_goes_on() {
  one_fails 'on client completion RECV 20: remove client anyrdma0' 0 1
}

case_second_device_is_removed_and_the_first_goes_on() {
  one_fails 'on client completion RECV 20: remove client anyrdma1' 1 0
}

case_port_of_the_second_device_goes_down_and_the_first_goes_on() {
  one_fails 'on client completion RECV 20: port-down client anyrdma1' 1 0
}

case_programs_choose_a_device_by_its_name() {
  take_port
  fault_options=("${rails[@]}")
  start server ibv_rc_pingpong -d anyrdma1 -g 1 -p "$port" -n 50 && await_socket "$pid"
  local server=$pid
  run client ibv_rc_pingpong -d anyrdma1 -g 1 -p "$port" -n 50 "$second"
  expect_status client 0 $?
  expect_line client '^50 iters in'
  finish "$server"
  expect_status server 0 $?
  take_port
  start server ib_write_bw -F -d anyrdma1 -p "$port" -n 100 && await_socket "$pid"
  server=$pid
  run client ib_write_bw -F -d anyrdma1 -p "$port" -n 100 "$second"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_faults_name_devices_that_are_there() {
  echo 'at 1s: remove client anyrdma2' >"$work/plan"
  "$anyrdma" run --rails 2 --faults "$work/plan" -- touch "$work/started" >"$work/refused.log" 2>&1
  expect_status "a plan with a third device" 2 $?
  expect_line refused "over fabric the devices are 'anyrdma0' to 'anyrdma1'"
  [ ! -e "$work/started" ] || fail "the program was started"
}

# --- udp ------------------------------------------------------------------------------------------

# over_udp NAME ADDRESS0;ADDRESS1 PROGRAM ARGUMENT...: start
over_udp() {
  fault_options=(--transport udp ${client_options[@]+"${client_options[@]}"})
  ANYRDMA_UDP_ADDRESS=$2 start "$1" "${@:3}"
  fault_options=()
}

# A process has the UDP port of its addresses alone, so each pair has addresses of its own.
udp_pair() { # RAIL
  local attempt net=127.$((20 + RANDOM % 200)).$((1 + RANDOM % 250)) client_options=()
  over_udp server "$net.1;$net.2" rping -s -P -v -a "$net.$(($1 + 1))"
  server=$pid
  client_options=(--faults "$work/plan" --record "$work/client" --host client)
  # The server is there a moment before it listens: who comes too early comes again.
  for ((attempt = 0; attempt < 50; attempt++)); do
    rm -rf "$work/client"
    mkdir "$work/client"
    over_udp client "$net.3;$net.4" rping -c -I "$net.$(($1 + 3))" -a "$net.$(($1 + 1))" -C 400
    finish "$pid"
    status=$?
    [ "$status" != 0 ] || break
    grep -qE 'REJECTED|ADDR_ERROR' "$work/client.log" || break
  done
}

case_udp_has_a_device_for_each_list_of_addresses() {
  local net=127.$((20 + RANDOM % 200)).$((1 + RANDOM % 250))
  ANYRDMA_UDP_ADDRESS="$net.11;$net.12,$net.13" "$anyrdma" run --transport udp -- \
    ibv_devices >"$work/devices.log" 2>&1
  expect_status ibv_devices 0 $?
  expect_line devices '^ *anyrdma0 '
  expect_line devices '^ *anyrdma1 '
}

case_udp_goes_on_over_the_second_device_without_the_first() {
  local server status
  echo 'on client completion RECV 20: remove client anyrdma0' >"$work/plan"
  udp_pair 1
  expect_status client 0 "$status"
  expect_line client 'fired 1, observed 1: '
  "$anyrdma" trace "$work"/client/*.recording --json >"$work/lanes.log" || fail "trace: $?"
  expect_line lanes '"of":"device","name":"client/anyrdma1"'
  stop "$server"
}

case_udp_loses_the_second_device() {
  local server status
  echo 'on client completion RECV 20: remove client anyrdma1' >"$work/plan"
  udp_pair 1
  [ "$status" != 0 ] || fail "the client ended with 0"
  expect_line client 'fired 1, observed 1: '
  stop "$server"
}

run_cases "$@"
