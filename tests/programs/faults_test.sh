#!/usr/bin/env bash
# rping as it is, over transports with faults: each fault ends it as its code says, and as it does on a kernel.
. tests/programs/lib.sh
need rping stdbuf

# with_faults PLAN NAME PROGRAM...: start, with a plan of its own.
with_faults() {
  printf '%s\n' "$1" >"$work/$2.plan"
  fault_options=(--faults "$work/$2.plan")
  start "${@:2}"
  fault_options=()
}

await_server() { await_listener tcp "$host" 7174 "$1" || fail "the server does not listen"; }

expect_fired() { # NAME FAULT: it was said when it happened
  expect_line "$1" "^anyrdma: fault: $2"
}

case_rejected_client_says_the_reason_and_the_next_is_served() {
  local server
  with_faults 'on server request 1: reject 28 6275737900' server rping -s -C 10 -V -a "$host"
  server=$pid
  await_server "$server"
  run first rping -c -C 10 -V -a "$host"
  expect_status "the rejected client" 255 $?
  expect_line first 'RDMA_CM_EVENT_REJECTED, error 28'
  run second rping -c -C 10 -V -a "$host"
  expect_status "the second client" 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line server 'fired 1, observed 1: on server request 1: reject 28 6275737900'
}

case_forgotten_request_is_repeated_by_its_sender() {
  local server
  with_faults 'on server request 1: overflow' server rping -s -C 10 -V -a "$host"
  server=$pid
  await_server "$server"
  run client rping -c -C 10 -V -a "$host"
  expect_status client 0 $?
  finish "$server"
  expect_status server 0 $?
  expect_line server 'fired 1, observed 1: on server request 1: overflow'
}

case_late_request_and_late_answer_are_waited_for() {
  local server before
  with_faults 'on server queued CONNECT_REQUEST 1: hold 300ms' server rping -s -C 10 -V -a "$host"
  server=$pid
  await_server "$server"
  before=$(date +%s%N)
  with_faults 'on client queued CONNECT_RESPONSE 1: hold 200ms' client rping -c -C 10 -V -a "$host"
  finish "$pid"
  expect_status client 0 $?
  [ $(($(date +%s%N) - before)) -ge 500000000 ] || fail "nobody waited"
  finish "$server"
  expect_status server 0 $?
  expect_fired server 'on server queued CONNECT_REQUEST 1: hold 300ms'
  expect_fired client 'on client queued CONNECT_RESPONSE 1: hold 200ms'
}

# From here on the victim is struck while both are at work: an rping that is disconnected before it knows that
# it is connected waits for ever, on any transport, for a thread of its own.
victim() { # SIDE ACTION -> $status of the victim, $other of its peer
  local server client plan="on $1 completion SEND 20: $2"
  case "$1" in
    server)
      with_faults "$plan" server rping -s -a "$host"
      server=$pid
      await_server "$server"
      start client rping -c -a "$host"
      client=$pid
      ;;
    client)
      start_server server "$host:7174" rping -s -a "$host"
      server=$pid
      with_faults "$plan" client rping -c -a "$host"
      client=$pid
      ;;
  esac
  finish "$client"
  status=$?
  finish "$server"
  other=$?
  [ "$1" = client ] || { local swap=$status; status=$other other=$swap; }
  expect_fired "$1" "$plan"
}

# rping takes a disconnection for a good end, unless a completion comes at the same moment and overwrites its
# state.
expect_disconnected() { # SIDE STATUS
  [ "$2" = 0 ] || [ "$2" = 255 ] || fail "$1: exit status $2, expected 0 or 255"
  expect_line "$1" "$1 DISCONNECT EVENT"
}

# rping leaves by exit() in its CM thread, which says so; its main thread may fail first.
case_removed_device_ends_the_client_and_disconnects_the_server() {
  victim client 'remove client anyrdma0'
  [ "$status" != 0 ] || fail "the client exits with 0"
  expect_disconnected server "$other"
}

case_removed_device_ends_the_server_and_disconnects_the_client() {
  victim server 'remove server anyrdma0'
  [ "$status" != 0 ] || fail "the server exits with 0"
  expect_disconnected client "$other"
}

# The kernel, and the fabric, send the dead process' last word.
case_killed_client_disconnects_the_server() {
  victim client 'crash client'
  expect_status client 137 "$status"
  expect_disconnected server "$other"
}

case_killed_server_disconnects_the_client() {
  victim server 'crash server'
  expect_status server 137 "$status"
  expect_disconnected client "$other"
}

case_call_that_fails_is_told_by_the_program() {
  with_faults 'on client call create_cq 1: fail ENOMEM' client rping -c -a "$host"
  finish "$pid"
  [ $? != 0 ] || fail "the client exits with 0"
  expect_fired client 'on client call create_cq 1: fail ENOMEM'
}

# Nothing was tested by it.
never_happens() { # EXPECTED-STATUS [OPTION]
  local server
  printf 'on client queued UNREACHABLE 1: hold 1s\n' >"$work/never.plan"
  start_server server "$host:7174" rping -s -C 1 -a "$host"
  server=$pid
  fault_options=(--faults "$work/never.plan" "${@:2}")
  run client rping -c -C 1 -a "$host"
  expect_status client "$1" $?
  fault_options=()
  expect_line client '^anyrdma: a planned fault did not happen'
  expect_line client 'planned 1, armed 0, fired 0, observed 0: on client queued UNREACHABLE 1: hold 1s'
  finish "$server"
}

case_fault_that_never_happens_is_told() { never_happens 0; }

case_fault_that_never_happens_fails_who_is_strict() { never_happens 3 --strict; }

case_json_says_the_same() {
  local server
  cat >"$work/json.plan" <<'JSON'
{"faults": [{"when": {"on": "request", "host": "server", "occurrence": 1},
             "then": {"do": "reject", "reason": 28}}]}
JSON
  fault_options=(--faults "$work/json.plan" --seed 7)
  start server rping -s -C 1 -a "$host"
  server=$pid
  fault_options=()
  await_server "$server"
  run first rping -c -C 1 -a "$host"
  expect_status "the rejected client" 255 $?
  run second rping -c -C 1 -a "$host"
  finish "$server"
  expect_line server 'faults, seed 7:'
}

# refused PLAN SENTENCE [OPTION...]: the program never starts.
refused() {
  printf '%s\n' "$1" >"$work/wrong.plan"
  "$anyrdma" run --faults "$work/wrong.plan" "${@:3}" -- touch "$work/started" 2>"$work/wrong.log"
  expect_status "$1" 2 $?
  expect_line wrong "^anyrdma: The fault plan $work/wrong.plan is refused: $2\.\$"
  [ ! -e "$work/started" ] || fail "the program was started"
}

case_wrong_plan_starts_nothing() {
  refused $'# one\non server request 1: rejekt' "line 2: no such action 'rejekt'"
  refused $'# one\n\nat 1s: cut a->b\n' "line 3: it is for several hosts \(a, b\): say .* \(--host NAME\)"
  refused $'# one\nat 1s: return a anyrdma0' "line 2: over fabric nobody can do 'return'"
  refused 'on a request 1: overflow' "line 1: over ucma .* not forgotten" --transport ucma
  refused 'on a request 1: overflow' "line 1: it has no fault for the host 'b'" --host b
  refused '{"faults": [{}]}' 'line 1: .*'
  "$anyrdma" run --faults "$work/none" -- touch "$work/started" 2>"$work/wrong.log"
  expect_status "no file" 2 $?
  expect_line wrong "^anyrdma: The fault plan $work/none cannot be read: No such file or directory\. Check the path\."
  "$anyrdma" run --seed 7 -- true 2>"$work/wrong.log"
  expect_status "a seed of nothing" 2 $?
}

run_cases "$@"
