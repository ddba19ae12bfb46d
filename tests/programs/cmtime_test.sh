#!/usr/bin/env bash
# cmtime of Debian's rdmacm-utils: many ids of one process at once. Debian 12's server runs until it is killed; Debian 13's
# serves one client, with and without queue pairs, and ends, and its tables have other columns.
. tests/programs/lib.sh
need cmtime stdbuf

# end_server PID: as it is meant to end.
end_server() {
  if cmtime_serves_one_client; then
    finish "$1"
    expect_status server 0 $?
  else
    stop "$1"
  fi
}

# numbers_from FIRST: sets $of_server and $of_client to options that number queue pairs which are none, for a cmtime that
# connects without some, too. On one machine, a kernel takes two of the same number for a stale connection.
numbers_from() {
  of_server=() of_client=()
  cmtime_serves_one_client || return 0
  of_server=(-q "$1") of_client=(-q "$(($1 + 20000))")
}

timed() { # COUNT FIRST-NUMBER
  local server count=$1 step steps=('create id' 'resolve addr' 'resolve route' 'create qp' disconnect)
  if cmtime_serves_one_client; then steps+=('cm connect' 'destroy id'); else steps+=(connect destroy); fi
  numbers_from "$2"
  start_server server "$host:7471" cmtime -c "$count" ${of_server[@]+"${of_server[@]}"}
  server=$pid
  run client cmtime -s "$host" -c "$count" ${of_client[@]+"${of_client[@]}"}
  expect_status client 0 $?
  for step in "${steps[@]}"; do
    expect_line client "^$step *:?( +[0-9.]+){4,6}\$"
  done
  ! grep -q 'event:\|failed' "$work/client.log" || fail "the client met with trouble"
  end_server "$server"
}

case_a_hundred_connections() { timed 100 100000; }

case_a_thousand_connections() { timed 1000 200000; }

# Ten times the longest backlog, all at once: none is lost, so none is repeated seconds later.
case_ten_thousand_connections() { timed 10000 300000; }

case_the_client_may_bind() {
  local server
  numbers_from 400000
  start_server server "$host:7500" cmtime -b "$host" -p 7500 ${of_server[@]+"${of_server[@]}"}
  server=$pid
  run client cmtime -s "$host" -b "$host" -p 7500 -r 1 -t 1000 ${of_client[@]+"${of_client[@]}"}
  expect_status client 0 $?
  expect_line client '^bind addr *:? +[0-9.]+'
  end_server "$server"
}

case_a_server_serves_one_client_after_the_other() {
  local server
  if cmtime_serves_one_client; then
    skip "this cmtime's server ends after a client"
    return
  fi
  start_server server "$host:7471" cmtime -c 10
  server=$pid
  run client1 cmtime -s "$host" -c 10
  expect_status 'client 1' 0 $?
  run client2 cmtime -s "$host" -c 10
  expect_status 'client 2' 0 $?
  stop "$server"
}

run_cases "$@"
