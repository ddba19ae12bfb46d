#!/usr/bin/env bash
# qperf: a server, and a client that names tests. It connects its queue pairs by LID, so the device says that its
# link is InfiniBand's; with -cm 1 the connection manager connects them, on Ethernet. A test takes 1 s at least.
. tests/programs/lib.sh
need qperf stdbuf flock
together=4

# tests OPTION... -- TEST...: one server, and a client for each, one after the other; the last is to quit.
tests() {
  local server options=(-t 1) name
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  take_port
  start server qperf -lp "$port"
  server=$pid
  await_socket "$server"
  for name in "$@"; do
    run "$name" qperf -lp "$port" -to 20 "${options[@]}" "$host" "$name"
    expect_status "client of $name" 0 $?
    expect_line "$name" '^ +([a-z]+_)?(bw|latency|rate) +=  +[0-9.]+ '
  done
  run quit qperf -lp "$port" "$host" quit
  expect_status quit 0 $?
  finish "$server"
  expect_status server 0 $?
}

by_lid() {
  export ANYRDMA_LINK_LAYER=infiniband
  tests -- "$@"
}

case_reliable_connections() { by_lid rc_lat rc_bw rc_bi_bw; }

case_writes() { by_lid rc_rdma_write_lat rc_rdma_write_poll_lat rc_rdma_write_bw; }

case_reads() { by_lid rc_rdma_read_lat rc_rdma_read_bw; }

case_atomics() { by_lid rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add; }

case_datagrams() { by_lid ud_lat ud_bw ud_bi_bw; }

case_unreliable_connections() { by_lid uc_lat uc_bw uc_bi_bw; }

case_unreliable_writes() { by_lid uc_rdma_write_lat uc_rdma_write_poll_lat uc_rdma_write_bw; }

case_the_connection_manager() { tests -cm 1 -- rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_lat rc_fetch_add_mr; }

# Debian's is built without XRC, which has been reshaped since, and has the connection manager connect RC only.
case_what_qperf_does_not_offer() {
  local name
  for name in xrc_lat xrc_bw xrc_bi_bw; do
    run "$name" qperf "$host" "$name"
    expect_status "$name" 1 $?
    expect_line "$name" "$name: bad test"
    skip "$name: bad test"
  done
}

run_cases "$@"
