#!/usr/bin/env bash
# Unmodified programs that record in real time: what their recordings say, alone and together.
. tests/programs/lib.sh
need rping stdbuf

# on HOST PROGRAM ARGUMENT...: in the background, recorded into the directory $records; sets $pid
on() {
  local fault_options=(--record "$records" --host "$1" ${fault_options[@]+"${fault_options[@]}"})
  start "$@"
}

# says WHAT PATTERN COMMAND...: the command succeeds and has a line like that
says() {
  local out
  out=$("${@:3}" 2>&1) || fail "$1: status $? of '${*:3}': ${out:0:300}"
  grep -qE -- "$2" <<<"$out" || fail "$1 does not say '$2': ${out:0:600}"
}

# ping_pong ARGUMENT...: a recorded pair, whose merged recording is $work/merged
ping_pong() {
  local server
  records=$work/records
  rm -rf "$records" && mkdir "$records"
  on server rping -s -a "$host" -C 3 -V
  server=$pid
  await_listener tcp "$host" 7174 "$pid" || fail "the server does not listen"
  on client rping -c -a "$host" -C 3 -V "$@"
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  says merge '^2 recordings in .* messages in common$' "$anyrdma" trace merge "$work/merged" "$records"
}

case_a_pair_is_one_recording_with_its_whole_handshake() {
  ping_pong
  says summary '^ended, .* s of real time$' "$anyrdma" trace summary "$work/merged"
  says summary '^hosts: (client, server|server, client)(, 127\.0\.0\.1)?$' "$anyrdma" trace summary "$work/merged"
  says summary ' 0 of them lost' "$anyrdma" trace summary "$work/merged"
  for message in 'client -> server REQ' 'server -> client REP' 'client -> server RTU' '(client|server) -> (client|server) DREQ'; do
    says "what was sent" "$message .*arrives" "$anyrdma" trace "$work/merged" --kind message
  done
  says "whose request it is" 'client -> server REQ .*\[client#1 server#2\]' "$anyrdma" trace "$work/merged" --kind message
  says "calls of threads" '^[0-9.]+ client/[^ ]* rdma_connect = 0 \[client#1\]' "$anyrdma" trace "$work/merged" --kind call
  says "posted work" 'server/[^ ]* ibv_post_send opcode=RDMA_READ .*= 0' "$anyrdma" trace "$work/merged" --kind call
  says completions 'completion IBV_WC_RECV IBV_WC_SUCCESS' "$anyrdma" trace "$work/merged" --kind completion
  says "queue pairs" 'client#qp0x[0-9a-f]+ is RTS' "$anyrdma" trace "$work/merged" --kind state
  says events 'ESTABLISHED.*acknowledged [0-9.]+' "$anyrdma" trace "$work/merged" --kind event
  says JSON '"clock":"real"' "$anyrdma" trace "$work/merged" --json
}

case_others_read_a_merged_recording_too() {
  ping_pong
  "$anyrdma" trace "$work/merged" --html "$work/page.html" --perfetto "$work/trace" || fail "no page"
  says "the page" 'server' cat "$work/page.html"
  "$anyrdma" trace "$work/merged" --pcapng "$work/merged.pcapng" || fail "no capture"
  command -v tshark >/dev/null || { skip "tshark is not installed"; return; }
  says tshark '0x0010' tshark -n -r "$work/merged.pcapng" -T fields -e infiniband.mad.attributeid
  says tshark '^server$' tshark -n -r "$work/merged.pcapng" -T fields -e frame.interface_name
}

case_a_killed_process_leaves_what_it_had_written() {
  local server
  records=$work/records
  rm -rf "$records" && mkdir "$records"
  on server rping -s -P -a "$host"
  server=$pid
  await_listener tcp "$host" 7174 "$pid" || fail "the server does not listen"
  on client rping -c -a "$host" -v
  wait_for "$pid" client '^ping data'
  kill -9 "$pid"
  finish "$pid"
  wait_for "$server" server 'DISCONNECT EVENT'
  stop "$server"
  says "its summary" 'the recording is truncated' "$anyrdma" trace summary "$records"/client.rping.*.recording
  says "what it did" 'rdma_connect = 0' "$anyrdma" trace "$records"/client.rping.*.recording
  says merge 'is truncated: what follows is the part that exists' "$anyrdma" trace merge "$work/merged" "$records"
  says "both together" 'client -> server REQ .*arrives' "$anyrdma" trace "$work/merged"
}

case_faults_stand_in_it_with_what_they_struck() {
  echo 'on client->server REQ 1: lose' >"$work/plan"
  local server
  records=$work/records
  rm -rf "$records" && mkdir "$records"
  on server rping -s -a "$host" -C 1
  server=$pid
  await_listener tcp "$host" 7174 "$pid" || fail "the server does not listen"
  fault_options=(--faults "$work/plan")
  on client rping -c -a "$host" -C 1
  fault_options=()
  finish "$pid"
  expect_status client 0 $?
  finish "$server"
  "$anyrdma" trace merge "$work/merged" "$records" >/dev/null || fail "no merge"
  says "what was lost" 'client -> .* REQ .*, lost: lost by a fault' "$anyrdma" trace "$work/merged"
  says "what was repeated" 'client -> server REQ .*again .*arrives' "$anyrdma" trace "$work/merged"
  says "what faults did" 'FAULT on client->server REQ 1: lose \(lose: REQ from client' "$anyrdma" trace "$work/merged"
}

case_a_file_is_one_process_and_the_others_get_their_own() {
  "$anyrdma" run --fabric "$fabric" --record "$work/file" -- rping -c -a "$host" -C 1 >"$work/first.log" 2>&1
  says "the file" 'rdma_resolve_addr' "$anyrdma" trace "$work/file" --kind call
  "$anyrdma" run --fabric "$fabric" --record "$work/file" -- sh -c "rping -c -a $host -C 1; rping -c -a $host -C 1" >"$work/second.log" 2>&1
  expect_line second "^anyrdma: process [0-9]+ records to '.*/file\.[0-9]+', because another process records to"
}

case_where_nobody_can_write_nothing_starts() {
  "$anyrdma" run --record "$work/no/where" -- touch "$work/started" 2>"$work/refused.log"
  expect_status "run --record" 2 $?
  expect_line refused "^anyrdma: recordings cannot be written to '.*/no/where': No such file or directory\. Name a directory"
  [ ! -e "$work/started" ] || fail "the program was started"
  "$anyrdma" run --host client -- true 2>"$work/host.log"
  expect_status "run --host alone" 2 $?
  expect_line host 'has no effect without --faults, --record or --check'
}

case_what_does_not_belong_together_is_refused() {
  ping_pong
  local out
  out=$("$anyrdma" trace merge "$work/again" "$work/merged" "$records" 2>&1)
  expect_status "merging a merged one" 2 $?
  grep -q 'it is not of one process' <<<"$out" || fail "it says: $out"
  out=$("$anyrdma" trace merge "$work/merged" "$work/merged" 2>&1)
  expect_status "merging into its source" 2 $?
  mkdir "$work/empty"
  out=$("$anyrdma" trace merge "$work/again" "$work/empty" 2>&1)
  expect_status "merging nothing" 2 $?
  grep -q 'there is no recording in' <<<"$out" || fail "it says: $out"
}

case_udp_is_recorded_as_well() {
  local server
  records=$work/records
  rm -rf "$records" && mkdir "$records"
  ANYRDMA_UDP_ADDRESS=127.0.0.2 "$anyrdma" run --transport udp --record "$records" --host server -- \
    stdbuf -oL rping -s -v -a 127.0.0.2 -C 2 >"$work/server.log" 2>&1 </dev/null &
  server=$!
  started+=("$server")
  timeout "$deadline" bash -c "until [ -n \"\$(ls $records)\" ] && '$anyrdma' trace $records/* 2>/dev/null | grep -q rdma_listen; do
    kill -0 $server || exit; done" || fail "the server does not listen"
  ANYRDMA_UDP_ADDRESS=127.0.0.3 "$anyrdma" run --transport udp --record "$records" --host client -- \
    rping -c -a 127.0.0.2 -C 2 >"$work/client.log" 2>&1
  expect_status client 0 $?
  finish "$server"
  says merge 'messages in common' "$anyrdma" trace merge "$work/merged" "$records"
  says "a handshake" 'server -> client REP .*arrives' "$anyrdma" trace "$work/merged"
}

run_cases "$@"
