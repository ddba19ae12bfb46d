#!/usr/bin/env bash
# udaddy of Debian's rdmacm-utils: datagram queue pairs that two processes have made known to each other.
. tests/programs/lib.sh
need udaddy stdbuf

datagrams() { # ARGUMENT...: both sides with the same
  local server
  start_server server "udp:$host:7174" udaddy -b "$host" "$@"
  server=$pid
  run client udaddy -s "$host" "$@"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client '^return status 0$'
  expect_line server '^return status 0$'
}

case_one_path() { datagrams; }

case_a_hundred_paths() { datagrams -c 100; }

case_the_port_space_may_be_named() { datagrams -p 0x111; }

case_the_largest_datagrams_work() { datagrams -c 3 -C 50 -S 1024; }

case_no_message_at_all_is_fine() { datagrams -c 3 -C 0; }

case_a_type_of_service_may_be_set() { datagrams -t 32; }

case_client_without_a_server_fails() {
  run client udaddy -s "$host"
  [ $? != 0 ] || fail "the client exits with 0"
  expect_line client 'RDMA_CM_EVENT_UNREACHABLE, error: 1$'
}

run_cases "$@"
