#!/usr/bin/env bash
# libfabric's verbs provider: each kind of endpoint that it has or that others make of it, with its data checked.
. tests/programs/lib.sh
need fi_info fi_pingpong stdbuf flock
together=3

# pingpong PROVIDER OPTION...: every size up to a megabyte. ofi_rxm destroys its queue pair when DISCONNECTED comes, and with it
# completions that it has not polled; it ends well where a poll that has found nothing is newer than what came before.
pingpong() {
  local server
  take_port
  start server fi_pingpong -B "$port" -c -I 20 -p "$@"
  server=$pid
  await_socket "$server"
  run client fi_pingpong -P "$port" -c -I 20 -p "$@" "$host"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client "^${largest:-1m} +20 +=20 "
  expect_line server "^${largest:-1m} +20 +=20 "
}

case_it_finds_the_device() {
  run info fi_info -p verbs
  expect_status fi_info 0 $?
  expect_line info 'domain: anyrdma0$'
  expect_line info 'protocol: FI_PROTO_RDMA_CM_IB_RC'
  expect_line info 'protocol: FI_PROTO_IB_UD'
}

case_connected_endpoints() { pingpong verbs -e msg; }

case_datagrams() { largest=4k pingpong verbs -e dgram; }

case_reliable_datagrams_over_connections() { pingpong 'verbs;ofi_rxm' -e rdm; }

case_tagged_messages() { pingpong 'verbs;ofi_rxm' -e rdm -m tagged; }

case_reliable_datagrams_over_datagrams() { pingpong 'verbs;ofi_rxd' -e rdm; }

run_cases "$@"
