#!/usr/bin/env bash
# ucmatose of Debian's rdmacm-utils: many connections of two processes.
. tests/programs/lib.sh
need ucmatose stdbuf

connections() { # COUNT ARGUMENT...: both sides with the same count and arguments
  local server count=$1
  shift
  start_server server "${space:-}$host:7471" ucmatose -c "$count" "$@"
  server=$pid
  run client ucmatose -s "$host" -c "$count" "$@"
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

case_an_acknowledgement_timeout_may_be_set() { connections 2 -a 14; }

case_no_message_at_all_is_fine() { connections 3 -C 0; }

# More than one packet each, and as many messages as the receive queue holds.
case_long_messages_work() { connections 3 -C 64 -S 20000; }

case_the_port_space_may_be_infinibands_own() { space=ib: connections 2 -P ib; }

case_both_sides_may_name_addresses() {
  local server
  start_server server "$host:7500" ucmatose -b "$host" -f ip -p 7500
  server=$pid
  run client ucmatose -s "$host" -b "$host" -f ip -p 7500
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

run_cases "$@"
