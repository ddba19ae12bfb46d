#!/usr/bin/env bash
# libfabric's verbs provider: each kind of endpoint that it has or that others make of it, with its data checked.
. tests/programs/lib.sh
need fi_info fi_pingpong stdbuf flock
together=3

# pingpong PROVIDER OPTION...: every size up to a megabyte
pingpong() {
  local server
  take_port
  start server fi_pingpong -B "$port" -c -I 20 -p "$@"
  server=$pid
  await_socket "$server"
  run client fi_pingpong -P "$port" -c -I 20 -p "$@" "$host"
  expect_farewell $?
  finish "$server"
  expect_status server 0 $?
  expect_line client "^${largest:-1m} +20 +=20 "
  expect_line server "^${largest:-1m} +20 +=20 "
}

# ofi_rxm destroys its queue pair when DISCONNECTED comes, and with it completions that it has not polled: when the
# server's farewell comes right behind the acknowledgement of the client's last message, that message counts as flushed.
expect_farewell() { # STATUS of the client
  if [ "$1" = 125 ] && [ "${may_be_flushed:-}" ] && grep -q 'cq_readerr: Work Request Flushed Error$' "$work/client.log"; then
    echo "    the client's last completion was lost in ofi_rxm"
  else
    expect_status client 0 "$1"
  fi
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

case_reliable_datagrams_over_connections() { may_be_flushed=1 pingpong 'verbs;ofi_rxm' -e rdm; }

case_tagged_messages() { may_be_flushed=1 pingpong 'verbs;ofi_rxm' -e rdm -m tagged; }

case_reliable_datagrams_over_datagrams() { pingpong 'verbs;ofi_rxd' -e rdm; }

run_cases "$@"
