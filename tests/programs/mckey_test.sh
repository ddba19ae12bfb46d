#!/usr/bin/env bash
# mckey of Debian's rdmacm-utils: a sender and receivers of a multicast group, each a process.
. tests/programs/lib.sh
need mckey stdbuf

# multicast RECEIVERS 'SENDER-ARGUMENTS' ARGUMENT...: both with ARGUMENT..., and all receive everything.
multicast() {
  local receivers=() count=$1 sender=$2 i why
  if ! on_fabric && why=$(mckey_loses_sends); then skip "$why"; return; fi
  shift 2
  for ((i = 0; i < count; i++)); do
    start "receiver$i" mckey -b "$host" "$@"
    receivers+=("$pid")
  done
  for ((i = 0; i < count; i++)); do wait_for "${receivers[i]}" "receiver$i" '^mckey: joined dgid'; done
  # shellcheck disable=SC2086 # one argument per word
  run sender mckey -b "$host" "$@" -s $sender
  expect_status sender 0 $?
  for ((i = 0; i < count; i++)); do
    finish "${receivers[i]}"
    expect_status "receiver $i" 0 $?
    expect_line "receiver$i" '^data transfers complete$'
  done
}

case_one_receiver() {
  multicast 1 '' -m 239.1.1.1
  expect_line receiver0 '^mckey: joined dgid: ::ffff:239.1.1.1 mlid 0x0 sl 0$'
}

case_three_receivers() { multicast 3 '' -m 239.1.1.1; }

case_the_largest_datagrams_work() { multicast 1 '' -m 239.1.1.1 -C 50 -S 1024; }

case_the_port_space_may_be_named() { multicast 1 '' -m 239.1.1.1 -p 0x111; }

case_a_sender_may_join_to_send_only() { multicast 2 -o -m 239.1.1.1; }

case_groups_do_not_hear_each_other() {
  local other
  start other mckey -b "$host" -m 239.1.1.2
  other=$pid
  wait_for "$other" other '^mckey: joined dgid'
  multicast 1 '' -m 239.1.1.1
  kill -0 "$other" 2>/dev/null || fail "the other group's receiver has heard something"
  stop "$other"
}

run_cases "$@"
