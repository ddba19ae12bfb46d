#!/usr/bin/env bash
# Packets and messages of the connection manager that are lost, doubled, late, out of order or damaged, under programs as
# they are: what is reliable stays so, bytes included, and who asked for it is told that it happened.
. tests/programs/lib.sh
need rping ucmatose udaddy ib_write_bw ib_send_lat stdbuf flock
together=4 # they wait for timeouts most of the time

words=(lose duplicate reorder 'delay 30ms' corrupt)

# plan_of WORD TRIGGER...: a line each
plan_of() {
  local word=$1
  shift
  printf "on %s: $word\n" "$@"
}

with_plan() { # PLAN NAME HOST PROGRAM...: start
  printf '%s\n' "$1" >"$work/$2.plan"
  fault_options=(--faults "$work/$2.plan" --host "$3" --strict)
  start "$2" "${@:4}"
  fault_options=()
}

expect_happened() { # NAME PLAN: all of it, and it made a difference
  local fault
  while read -r fault; do
    expect_line "$1" "planned 1, armed [0-9]+, fired 1, observed 1: ${fault//[*]/[*]}\$"
  done <<<"$2"
}

# each_word FUNCTION: a case for each word
each_word() {
  local word
  for word in "${words[@]}"; do eval "case_${1}_${word%% *}() { $1 '$word'; }"; done
}

# -V compares what was read and written.
rping_with_packets_that() {
  local server plan
  plan=$(plan_of "$1" 'client->server packet 15' '*->client packet 20' 'client->server packet 40')
  start_server server "$host:7174" rping -s -V -C 30 -a "$host"
  server=$pid
  with_plan "$plan" client client rping -c -V -C 30 -a "$host"
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_happened client "$plan"
}
each_word rping_with_packets_that

# One plan for both: each does what is its own. A message that does not come is sent again after 4 seconds.
ucmatose_with_messages_that() {
  local server clients servers
  clients=$(plan_of "$1" 'client->server REQ 2' 'client->server RTU 1')
  servers=$(plan_of "$1" 'server->client REP 3')
  with_plan "$clients"$'\n'"$servers" server server ucmatose -c 4 -C 20 -S 5000 -b "$host"
  server=$pid
  await_listener tcp "$host" 7471 "$server" || fail "the server does not listen"
  with_plan "$clients"$'\n'"$servers" client client ucmatose -c 4 -C 20 -S 5000 -s "$host"
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line client '^return status 0$'
  expect_line server '^return status 0$'
  expect_happened client "$clients"
  expect_happened server "$servers"
}
each_word ucmatose_with_messages_that

# measure WORD PROGRAM ARGUMENT...: both sides; the client's packets suffer, and those that it gets.
measure() {
  local server plan program=$2
  plan=$(plan_of "$1" 'client->* packet 31' "*->client packet $acknowledgement")
  shift 2
  take_port
  start server "$program" -F -p "$port" "$@" && await_socket "$pid"
  server=$pid
  with_plan "$plan" client client "$program" -F -p "$port" "$@" "$host"
  finish "$pid"
  expect_status "client of $program $*" 0 $?
  finish "$server"
  expect_status "server of $program $*" 0 $?
  expect_line client '^ [0-9]+ +[0-9]+ +[^ ]+ +[^ ]+'
  expect_happened client "$plan"
}

# Without a plan this needs no packet at all over the fabric. One answer may be enough for all.
ib_write_bw_with_packets_that() { acknowledgement=1 measure "$1" ib_write_bw -n 50 -s 20000; }
each_word ib_write_bw_with_packets_that

ib_send_lat_with_packets_that() { acknowledgement=12 measure "$1" ib_send_lat -n 60 -s 3000; }
each_word ib_send_lat_with_packets_that

# Nobody repeats what is lost; who writes does not learn of it.
case_write_over_an_unreliable_connection_is_lost() {
  local server plan='on client->* packet 31: lose'
  take_port
  start server ib_write_bw -F -p "$port" -c UC -n 50 -s 20000 && await_socket "$pid"
  server=$pid
  with_plan "$plan" client client ib_write_bw -F -p "$port" -c UC -n 50 -s 20000 "$host"
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_happened client "$plan"
}

# So do those who look for whom to send datagrams to.
udaddy_with_messages_that() {
  local server plan
  plan=$(plan_of "$1" 'client->server SIDR_REQ 1')
  start_server server "udp:$host:7174" udaddy -b "$host"
  server=$pid
  with_plan "$plan" client client udaddy -s "$host"
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_happened client "$plan"
}
each_word udaddy_with_messages_that

# The server is there a moment before it listens: who comes too early comes again.
rping_over_udp_with_packets_that() {
  local server plan tries own=127.$((20 + RANDOM % 200)).$((1 + RANDOM % 250)).$((1 + RANDOM % 120))
  plan=$(plan_of "$1" 'client->server packet 15' '*->client packet 20')
  ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=$own start server rping -s -V -C 30 -a "$own"
  server=$pid
  for ((tries = 1; tries <= 50; tries++)); do
    ANYRDMA_TRANSPORT=udp ANYRDMA_UDP_ADDRESS=${own%.*}.$((${own##*.} + 120)) with_plan "$plan" client client \
      rping -c -V -C 30 -a "$own"
    finish "$pid"
    status=$?
    [ "$status" != 0 ] || break
    grep -qE 'REJECTED|ADDR_ERROR' "$work/client.log" || break
  done
  expect_status client 0 "$status"
  finish "$server"
  expect_status server 0 $?
  expect_happened client "$plan"
}
each_word rping_over_udp_with_packets_that

case_chance_decides() {
  local server
  printf 'on client->* packet 20%%: reorder\non *->client packet 20%%: duplicate\n' >"$work/chance.plan"
  start_server server "$host:7174" rping -s -V -C 30 -a "$host"
  server=$pid
  fault_options=(--faults "$work/chance.plan" --seed 3)
  run client rping -c -V -C 30 -a "$host"
  expect_status client 0 $?
  fault_options=()
  finish "$server"
  expect_status server 0 $?
  expect_line client 'planned all, armed [0-9]+, fired [1-9][0-9]*, observed [0-9]+: on client->[*] packet 20%: reorder'
  expect_line client 'planned all, armed [0-9]+, fired [1-9][0-9]*, observed [0-9]+: on [*]->client packet 20%: duplicate'
}

# What comes in is seen before anybody else does anything with it.
case_message_pulls_what_happens_to_the_program() {
  local server plan='on *->server REQ 1: crash server'
  with_plan "$plan" server server rping -s -a "$host"
  server=$pid
  await_listener tcp "$host" 7174 "$server" || fail "the server does not listen"
  run client rping -c -a "$host"
  [ $? != 0 ] || fail "the client exits with 0"
  finish "$server"
  expect_status server 137 $?
  expect_happened server "$plan"
}

run_cases "$@"
