#!/usr/bin/env bash
# rping of Debian's rdmacm-utils: two processes, one fabric.
. tests/programs/lib.sh
need rping stdbuf setpriv

ping_pong() { # ADDRESS ARGUMENT...
  local server
  start_server server "$1:7174" rping -s -C 100 -V -a "$@"
  server=$pid
  run client rping -c -C 100 -V -a "$@"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_both_sides_exit_0() { ping_pong "$host"; }

# -q: rping makes and moves its queue pair itself (rdma_init_qp_attr, rdma_establish).
case_own_queue_pairs_work() { ping_pong "$host" -q; }

case_largest_messages_work() { ping_pong "$host" -S 65535; }

case_a_source_address_may_be_named() {
  local server
  start_server server "$host:7174" rping -s -a "$host" -C 10 -V
  server=$pid
  run client rping -c -I "$host" -a "$host" -C 10 -V
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_another_port_may_be_named() {
  local server
  start_server server "$host:9999" rping -s -a "$host" -p 9999 -C 10 -V
  server=$pid
  run first rping -c -a "$host" -C 10 -V
  expect_line first 'REJECTED, error:? 8'
  run client rping -c -a "$host" -p 9999 -C 10 -V
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

# -v prints each ping; the shortest data rping knows is its fixed text and a zero.
case_data_are_shown_and_wrap_around() {
  ping_pong "$host" -v -S 64
  expect_line client '^ping data: rdma-ping-0: ABCDEF'
  expect_line client '^ping data: rdma-ping-99: jklmno'
  expect_line server '^server ping data: rdma-ping-99: jklmno'
}

# -d shows every event that rping sees.
case_events_are_shown() {
  ping_pong "$host" -d
  expect_line client 'RDMA_CM_EVENT_ADDR_RESOLVED'
  expect_line client 'RDMA_CM_EVENT_ROUTE_RESOLVED'
  expect_line client 'RDMA_CM_EVENT_ESTABLISHED'
  expect_line server 'RDMA_CM_EVENT_CONNECT_REQUEST'
  expect_line server 'RDMA_CM_EVENT_ESTABLISHED'
  expect_line server 'RDMA_CM_EVENT_DISCONNECTED'
}

case_wildcard_server_serves_loopback() {
  local server
  start_server server "$host:7174" rping -s -C 10 -V
  server=$pid
  run client rping -c -a "$host" -C 10 -V
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
}

case_machines_own_address_works() {
  local address
  address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$')
  if [ -z "$address" ]; then skip "no IPv4 address but loopback here"; return; fi
  ping_pong "$address"
}

case_ordinary_user_may() {
  if [ "$(id -u)" != 0 ]; then skip "the other cases ran as $(id -un)"; return; fi
  as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  ping_pong "$host"
}

# One after the other connects, but all five run at once: rping -P keeps a new id in one variable until
# its other thread has taken it, so two requests at the same moment are too much for it anywhere.
case_persistent_server_serves_five_clients_at_once() {
  local server clients=() i
  start_server server "$host:7174" rping -s -P -a "$host" -C 3000 -V
  server=$pid
  for i in 1 2 3 4 5; do
    start "client$i" rping -c -a "$host" -C 3000 -V -v
    clients+=("$pid")
    wait_for "$pid" "client$i" '^ping data'
  done
  for i in 1 2 3 4 5; do
    finish "${clients[i - 1]}"
    expect_status "client $i" 0 $?
  done
  stop "$server"
}

# Where the thread that is to take a new id waits long for a processor. A kernel leaves it to luck.
case_persistent_server_takes_a_burst_on_a_busy_machine() {
  local server clients=() i
  if ! on_fabric; then skip "the race is rping's own"; return; fi
  for i in {1..8}; do
    sh -c 'while :; do :; done' &
    started+=("$!")
  done
  start_server server "$host:7174" rping -s -P -a "$host" -C 5 -V
  server=$pid
  for i in {1..60}; do
    start "client$i" rping -c -a "$host" -C 5 -V
    clients+=("$pid")
  done
  for i in {1..60}; do
    finish "${clients[i - 1]}"
    expect_status "client $i" 0 $?
  done
  ! grep -q 'rdma_create_qp: Invalid' "$work/server.log" || fail "an id was overwritten"
  stop "$server"
}

# Soft-RoCE of Linux 6.1 leaves a receive alone that is posted when the queue pair is in error, for whose completion rping
# then waits.
finish_bereaved() { # PID
  on_fabric || case "$(uname -r)" in 6.1.*) kill -9 "$1" 2>/dev/null ;; esac
  finish "$1"
}

case_death_of_the_client_disconnects_the_server() {
  local server
  start_server server "$host:7174" rping -s -a "$host" -v
  server=$pid
  start client rping -c -a "$host" -v
  wait_for "$pid" client '^ping data'
  kill -9 "$pid"
  wait_for "$server" server 'DISCONNECT EVENT'
  finish_bereaved "$server"
}

case_death_of_the_server_disconnects_the_client() {
  local server
  start_server server "$host:7174" rping -s -P -a "$host"
  server=$pid
  start client rping -c -a "$host" -v
  wait_for "$pid" client '^ping data'
  kill -9 "$server"
  wait_for "$pid" client 'DISCONNECT EVENT'
  finish_bereaved "$pid"
}

case_second_server_on_one_port_is_refused() {
  local server
  start_server server "$host:7174" rping -s -P -a "$host"
  server=$pid
  run second rping -s -a "$host"
  [ $? != 0 ] || fail "the second server exits with 0"
  expect_line second 'rdma_bind_addr: (Cannot assign requested address|Address already in use)'
  stop "$server"
}

case_client_without_a_server_is_refused() {
  run client rping -c -a "$host" -C 1
  [ $? != 0 ] || fail "the client exits with 0"
  expect_line client 'REJECTED, error:? 8'
}

case_fabrics_do_not_see_each_other() {
  local server mine=$fabric
  start_server server "$host:7174" rping -s -P -a "$host"
  server=$pid
  run first rping -c -a "$host" -C 1
  expect_status "client on the same fabric" 0 $?
  fabric=$mine-other
  run client rping -c -a "$host" -C 1
  expect_line client 'REJECTED, error:? 8'
  stop "$server"
}

case_fabric_with_an_impossible_name_is_explained() {
  fabric='a/b'
  run server rping -s -a "$host"
  [ $? != 0 ] || fail "the program exits with 0"
  expect_line server "^anyrdma: .*'a/b' cannot name a fabric: "
}

# Whether its packets find room, or it says that they do not.
case_with_few_descriptors_it_works_or_says_so() {
  local server client descriptors
  on_fabric || return 0
  for descriptors in 12 13 14 15 16 17 18 19; do
    start_server server "$host:7174" rping -s -a "$host" -C 1
    server=$pid
    start client bash -c "ulimit -n $descriptors; exec rping -c -a $host -C 1"
    client=$pid
    timeout "$deadline" bash -c "until grep -q 'raise the limits' '$work/client.log'; do kill -0 $client && sleep 0.05 || exit 0; done" 2>/dev/null ||
      fail "with $descriptors descriptors it neither ends nor says why: $(tail -n 3 "$work/client.log")"
    kill -9 "$client" "$server" 2>/dev/null
    wait "$client" "$server" 2>/dev/null
  done
}

run_cases "$@"
