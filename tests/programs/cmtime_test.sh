#!/usr/bin/env bash
# cmtime of Debian's rdmacm-utils: many ids of one process at once. Its server runs until it is killed.
. tests/programs/lib.sh
need cmtime stdbuf

timed() { # COUNT ARGUMENT...
  local server count=$1 step
  shift
  start_server server "$host:7471" cmtime -c "$count" "$@"
  server=$pid
  run client cmtime -s "$host" -c "$count" "$@"
  expect_status client 0 $?
  for step in 'create id' 'resolve addr' 'resolve route' 'create qp' connect disconnect destroy; do
    expect_line client "^$step *: +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\$"
  done
  ! grep -q 'event:\|failed' "$work/client.log" || fail "the client met with trouble"
  stop "$server"
}

case_a_hundred_connections() { timed 100; }

case_a_thousand_connections() { timed 1000; }

# Ten times the longest backlog, all at once: none is lost, so none is repeated seconds later.
case_ten_thousand_connections() { timed 10000; }

case_the_client_may_bind() {
  local server
  start_server server "$host:7500" cmtime -b "$host" -p 7500
  server=$pid
  run client cmtime -s "$host" -b "$host" -p 7500 -r 1 -t 1000
  expect_status client 0 $?
  expect_line client '^bind addr *: +[0-9.]+'
  stop "$server"
}

case_a_server_serves_one_client_after_the_other() {
  local server
  start_server server "$host:7471" cmtime -c 10
  server=$pid
  run client1 cmtime -s "$host" -c 10
  expect_status 'client 1' 0 $?
  run client2 cmtime -s "$host" -c 10
  expect_status 'client 2' 0 $?
  stop "$server"
}

run_cases "$@"
