#!/usr/bin/env bash
# rdma_client, rdma_server, rdma_xclient and rdma_xserver of Debian's rdmacm-utils: ids without a channel.
. tests/programs/lib.sh
need rdma_client rdma_server rdma_xclient rdma_xserver stdbuf

pair() { # SERVER CLIENT PORT ARGUMENT...: both with ARGUMENT...
  local server=$1 client=$2 server_pid
  start_server "$server" "$host:$3" "$server" "${@:4}"
  server_pid=$pid
  run "$client" "$client" -s "$host" "${@:4}"
  expect_status "$client" 0 $?
  finish "$server_pid"
  expect_status "$server" 0 $?
  expect_line "$client" "^$client: end 0\$"
  expect_line "$server" "^$server: end 0\$"
}

case_client_and_server() { pair rdma_server rdma_client 7471; }

case_another_port_may_be_named() { pair rdma_server rdma_client 7500 -p 7500; }

case_the_server_may_name_its_address() {
  local server
  start_server server "$host:7471" rdma_server -s "$host"
  server=$pid
  run client rdma_client -s "$host"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_client_without_a_server_fails() {
  run client rdma_client -s "$host"
  [ $? != 0 ] || fail "the client exits with 0"
  expect_line client '^rdma_connect: Connection refused$'
}

case_xclient_and_xserver() { pair rdma_xserver rdma_xclient 7471 -c r; }

case_xclient_and_xserver_of_extended_queue_pairs() {
  skip "neither the drop-in nor rxe of Linux 6.1 has XRC"
}

run_cases "$@"
