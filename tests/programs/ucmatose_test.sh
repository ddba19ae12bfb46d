#!/usr/bin/env bash
# ucmatose of Debian's rdmacm-utils: many connections of two processes.
. tests/programs/lib.sh
need ucmatose stdbuf

connections() { # COUNT ARGUMENT...: both sides with the same count and arguments
  local server count=$1
  shift
  start_server server 127.0.0.1:7471 ucmatose -c "$count" "$@"
  server=$pid
  run client ucmatose -s 127.0.0.1 -c "$count" "$@"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client '^return status 0$'
  expect_line server '^return status 0$'
}

case_one_connection() { connections 1; }

case_a_hundred_connections() { connections 100; }

# -m migrates the ids to another channel once they are connected.
case_a_hundred_connections_migrate() { connections 100 -m; }

case_a_type_of_service_may_be_set() { connections 2 -t 32; }

run_cases
