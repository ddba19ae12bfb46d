#!/usr/bin/env bash
# cmtime of Debian's rdmacm-utils: many ids of one process at once. Debian 12's server runs until it is killed; Debian 13's
# serves one client, with and without queue pairs, and ends, and its tables have other columns.
. tests/programs/lib.sh
need cmtime stdbuf

serves_one_client() { grep -q 'cm connect' "$(command -v cmtime)"; }

# end_server PID: as it is meant to end.
end_server() {
  if serves_one_client; then
    finish "$1"
    expect_status server 0 $?
  else
    stop "$1"
  fi
}

timed() { # COUNT ARGUMENT...
  local server count=$1 step steps=('create id' 'resolve addr' 'resolve route' 'create qp' disconnect)
  if serves_one_client; then steps+=('cm connect' 'destroy id'); else steps+=(connect destroy); fi
  shift
  start_server server "$host:7471" cmtime -c "$count" "$@"
  server=$pid
  run client cmtime -s "$host" -c "$count" "$@"
  expect_status client 0 $?
  for step in "${steps[@]}"; do
    expect_line client "^$step *:?( +[0-9.]+){4,6}\$"
  done
  ! grep -q 'event:\|failed' "$work/client.log" || fail "the client met with trouble"
  end_server "$server"
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
  expect_line client '^bind addr *:? +[0-9.]+'
  end_server "$server"
}

case_a_server_serves_one_client_after_the_other() {
  local server
  if serves_one_client; then
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
