#!/usr/bin/env bash
# Debian's ibverbs-utils: what lists devices, and the ping-pongs over each kind of queue pair.
. tests/programs/lib.sh
need ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong ibv_xsrq_pingpong stdbuf
together=4

# exchange PROGRAM ARGUMENT...: both sides to their end. 127.0.0.1 has the GID with index 1.
exchange() {
  local server program=$1
  shift
  take_port
  start server "$program" -g 1 -p "$port" "$@"
  server=$pid
  await_socket "$server"
  run client "$program" -g 1 -p "$port" "$@" "$host"
  expect_status "client of $program $*" 0 $?
  finish "$server"
  expect_status "server of $program $*" 0 $?
}

# ping_pong PROGRAM ARGUMENT...: both sides count and time what they have done.
ping_pong() {
  exchange "$@"
  for side in client server; do
    expect_line "$side" "^ +(remote|local) address: LID 0x0000, QPN 0x[0-9a-f]{6}"
    expect_line "$side" "^[0-9]+ iters in [0-9.]+ seconds = [0-9.]+ usec/iter"
  done
}

# extended_ping_pong ARGUMENT...: this one only says that it has done it.
extended_ping_pong() {
  exchange ibv_xsrq_pingpong "$@"
  for side in client server; do
    expect_line "$side" "^ *(remote|local): LID 0000, QPN RECV [0-9a-f]{6} SEND [0-9a-f]{6}, .*SRQN [0-9a-f]{6}"
    expect_line "$side" "^success$"
  done
}

case_devices_are_listed() {
  run list ibv_devices
  expect_status ibv_devices 0 $?
  expect_line list '^ +anyrdma0 +	02'
}

# Line by line what Debian's own program says of the same device; the order in which processes come decides nothing.
says_the_same() {
  run list ibv_devinfo -v
  expect_status "ibv_devinfo -v" 0 $?
  expect_line list '^hca_id:	anyrdma0$'
  expect_line list 'state:			PORT_ACTIVE \(4\)$'
  "$anyrdma" devinfo --fabric "$fabric" >"$work/ours.log" || fail "anyrdma devinfo fails"
  diff "$work/list.log" "$work/ours.log" || fail "anyrdma devinfo says something else"
}

case_devinfo_says_what_ibv_devinfo_does() { says_the_same; }

case_devinfo_says_what_ibv_devinfo_does_of_infiniband() {
  export ANYRDMA_LINK_LAYER=infiniband
  says_the_same
  expect_line ours 'link_layer:		InfiniBand$'
}

case_reliable_connections() { ping_pong ibv_rc_pingpong -n 100 -c; }

case_reliable_connections_with_events() { ping_pong ibv_rc_pingpong -n 100 -e; }

case_timestamps() { ping_pong ibv_rc_pingpong -n 100 -t; }

case_extended_queue_pairs() { ping_pong ibv_rc_pingpong -n 100 -c -N; }

case_extended_queue_pairs_with_timestamps() { ping_pong ibv_rc_pingpong -n 100 -N -t; }

case_extended_queue_pairs_with_events() { ping_pong ibv_rc_pingpong -n 100 -N -e; }

case_on_demand_paging() { ping_pong ibv_rc_pingpong -n 100 -c -o; }

case_on_demand_paging_with_events() { ping_pong ibv_rc_pingpong -n 100 -c -o -e; }

case_on_demand_paging_with_timestamps() { ping_pong ibv_rc_pingpong -n 100 -o -t; }

case_implicit_on_demand_paging_with_prefetch() { ping_pong ibv_rc_pingpong -n 100 -c -O -P; }

case_device_memory() { ping_pong ibv_rc_pingpong -n 100 -c -j; }

case_device_memory_of_extended_queue_pairs() { ping_pong ibv_rc_pingpong -n 100 -c -j -N; }

case_unreliable_connections() { ping_pong ibv_uc_pingpong -n 100 -c; }

case_unreliable_connections_with_events() { ping_pong ibv_uc_pingpong -n 100 -e; }

case_datagrams() { ping_pong ibv_ud_pingpong -n 100 -c; }

case_datagrams_with_events() { ping_pong ibv_ud_pingpong -n 100 -e; }

case_shared_receive_queue() { ping_pong ibv_srq_pingpong -n 100 -c; }

case_shared_receive_queue_with_events() { ping_pong ibv_srq_pingpong -n 100 -e; }

case_shared_receive_queue_with_on_demand_paging() { ping_pong ibv_srq_pingpong -n 100 -o; }

case_shared_receive_queue_with_on_demand_paging_and_events() { ping_pong ibv_srq_pingpong -n 100 -o -e; }

case_extended_connections() { extended_ping_pong -n 100; }

case_extended_connections_with_events() { extended_ping_pong -n 100 -e; }

case_extended_connections_with_on_demand_paging() { extended_ping_pong -n 100 -o; }

case_extended_connections_with_on_demand_paging_and_events() { extended_ping_pong -n 100 -o -e; }

# The others know no -o or -t, and say how they are used.
case_what_the_ping_pongs_do_not_offer() {
  local program option
  for program in uc:-o uc:-t ud:-o ud:-t srq:-t xsrq:-t; do
    option=${program#*:} program=ibv_${program%:*}_pingpong
    run client "$program" "$option" "$host"
    expect_status "$program $option" 1 $?
    expect_line client "invalid option -- '${option#-}'"
    skip "$program $option: invalid option"
  done
}

run_cases "$@"
