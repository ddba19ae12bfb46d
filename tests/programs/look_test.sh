#!/usr/bin/env bash
# Programs that look into /sys/class/infiniband and /dev/infiniband for a device before they use one, or instead.
. tests/programs/lib.sh

case_folders() {
  run devices ls /sys/class/infiniband
  expect_status ls 0 $?
  expect_line devices '^anyrdma0$'
  run nodes ls /dev/infiniband
  expect_line nodes '^uverbs0$'
  expect_line nodes '^rdma_cm$'
  run long ls -l /dev/infiniband
  expect_status 'ls -l' 0 $?
  run verbs cat /sys/class/infiniband_verbs/uverbs0/ibdev
  expect_line verbs '^anyrdma0$'
}

# Files say what the device says.
case_attributes() {
  run report "$anyrdma" devinfo
  local guid firmware
  guid=$(awk '$1 == "node_guid:" { print $2 }' "$work/report.log")
  firmware=$(awk '$1 == "fw_ver:" { print $2 }' "$work/report.log")
  run guid cat /sys/class/infiniband/anyrdma0/node_guid
  expect_line guid "^$guid\$"
  run firmware cat /sys/class/infiniband/anyrdma0/fw_ver
  expect_line firmware "^$firmware\$"
  run state cat /sys/class/infiniband/anyrdma0/ports/1/state
  expect_line state '^4: ACTIVE$'
  run types cat /sys/class/infiniband/anyrdma0/ports/1/gid_attrs/types/0
  expect_line types '^RoCE v2$'
}

# Not by root either, as in a kernel's: other runs are led to the same files.
case_nobody_writes() {
  local each
  for each in 'echo 0 >' 'echo 0 >>' 'exec 3<>'; do
    run write bash -c "$each/sys/class/infiniband/anyrdma0/node_guid"
    expect_line write 'Permission denied'
  done
  run made bash -c 'echo 0 >/sys/class/infiniband/anyrdma0/of_my_own'
  expect_line made 'Permission denied'
  run python python3 -c 'open("/sys/class/infiniband/anyrdma0/node_guid", "r+")'
  expect_line python 'PermissionError'
  run node bash -c 'echo 0 >/dev/infiniband/uverbs0'
  expect_status 'writing to a node' 0 $?
}

# bash asks stat(2), opendir(3) and open(2), each by itself.
case_scripts() {
  run script bash -c '[ -c /dev/infiniband/uverbs0 ] && [ -d /sys/class/infiniband/anyrdma0 ] || exit 3
    for port in /sys/class/infiniband/*/ports/*; do read -r layer <"$port/link_layer"; echo "$port $layer"; done
    echo "$(ls /sys/class/infiniband/anyrdma0/device/net/)"; find /sys/class/infiniband -name hw_rev'
  expect_status script 0 $?
  expect_line script '^/sys/class/infiniband/anyrdma0/ports/1 Ethernet$'
  expect_line script "^$(ip -o route show to match 0.0.0.0/0 table all 2>/dev/null | awk '{ for (i = 1; i < NF; i++) if ($i == "dev") { print $(i + 1); exit } }')"
}

case_ibstat() {
  command -v ibstat >/dev/null || { skip "ibstat is not installed" && return; }
  run ibstat ibstat
  expect_status ibstat 0 $?
  expect_line ibstat "^CA 'anyrdma0'\$"
  expect_line ibstat '^[[:space:]]*State: Active$'
  expect_line ibstat '^[[:space:]]*Link layer: Ethernet$'
}

# What is nobody's business of ours is as it is without us, and so is what is missing.
case_other_paths() {
  run others bash -c '[ -d /sys/class ] && [ ! -e /sys/class/infiniband_other ] && [ ! -e /sys/class/infiniband/mlx9_0 ] &&
    [ ! -e /dev/infiniband/issm0 ] && read -r name </proc/sys/kernel/ostype && echo "$name"'
  expect_status others 0 $?
  expect_line others '^Linux$'
}

# The directory that is looked into is no place where others of the machine can put something.
case_of_another_user() {
  local made
  run first printenv ANYRDMA_NODES
  made=$(cat "$work/first.log")
  [ -d "$made" ] || { fail "no directory '$made'" && return; }
  [ "$(stat -c %a "$made")" = 755 ] || fail "its mode is $(stat -c %a "$made")"
  run second printenv ANYRDMA_NODES
  expect_line second "^$made\$"
  [ "$(id -u)" = 0 ] || { skip "another user takes root" && return; }
  chmod 777 "$made"
  run third printenv ANYRDMA_NODES
  ! grep -qx "$made" "$work/third.log" || fail "a directory that anybody may write was taken"
  chmod 755 "$made"
}

run_cases "$@"
