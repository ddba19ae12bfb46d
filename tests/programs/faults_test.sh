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

# answered PLAN PROGRAM...: a client with that plan, and a server as it is; $status is the client's, and the server is
# there for the next.
answered() {
  local server
  start_server server "$host:$1" "${server_of[@]}"
  server=$pid
  with_faults "$2" client "${@:3}"
  finish "$pid"
  status=$?
  stop "$server"
  expect_line client "fired 1, observed 1: $(sed 's/[*]/[*]/g' <<<"$2")"
}

case_route_that_nobody_knows_is_told_to_rping() {
  server_of=(rping -s -P -a "$host")
  answered 7174 'on client routing 1: unrouted ETIMEDOUT' rping -c -C 1 -a "$host"
  [ "$status" != 0 ] || fail "the client exits with 0"
  expect_line client 'RDMA_CM_EVENT_ROUTE_ERROR, error -110'
  answered 7174 'on client routing 1: unrouted EIO' rping -c -C 1 -a "$host"
  expect_line client 'RDMA_CM_EVENT_ROUTE_ERROR, error -5'
}

case_route_that_nobody_knows_is_told_to_ucmatose() {
  command -v ucmatose >/dev/null || { skip "ucmatose is not installed"; return; }
  server_of=(ucmatose -b "$host")
  answered 7471 'on client routing 1: unrouted EINVAL' ucmatose -s "$host"
  [ "$status" != 0 ] || fail "the client exits with 0"
  expect_line client 'RDMA_CM_EVENT_ROUTE_ERROR, error: -22'
}

# A request for a service that its sender never meant is for nobody.
case_message_with_a_wrong_field_is_refused() {
  server_of=(rping -s -P -a "$host")
  answered 7174 'on client->* REQ 1: alter service_id 0' rping -c -C 1 -a "$host"
  [ "$status" != 0 ] || fail "the client exits with 0"
  expect_line client 'RDMA_CM_EVENT_REJECTED, error 8'
  command -v ucmatose >/dev/null || { skip "ucmatose is not installed"; return; }
  server_of=(ucmatose -b "$host")
  answered 7471 'on client->* REQ 1: alter service_id 0' ucmatose -s "$host"
  expect_line client 'RDMA_CM_EVENT_REJECTED, error: 8'
}

# mra_before_it_is_answered PORT SERVER... -- CLIENT...: the client's connection manager gets it, and all goes on.
mra_before_it_is_answered() {
  local server port=$1 serving=()
  shift
  while [ "$1" != -- ]; do
    serving+=("$1")
    shift
  done
  with_faults 'on server request 1: mra 20' server "${serving[@]}"
  server=$pid
  await_listener tcp "$host" "$port" "$server" || fail "the server does not listen"
  with_faults 'on *->client MRA 1: duplicate' client "${@:2}"
  finish "$pid"
  expect_status "client of ${serving[0]}" 0 $?
  finish "$server"
  expect_status "${serving[0]}" 0 $?
  expect_line server 'fired 1, observed 1: on server request 1: mra 20'
  expect_line client 'fired 1, observed 1: on [*]->client MRA 1: duplicate'
}

case_mra_is_said_and_the_request_goes_on() {
  mra_before_it_is_answered 7174 rping -s -C 5 -a "$host" -- rping -c -C 5 -V -a "$host"
  command -v ucmatose >/dev/null || { skip "ucmatose is not installed"; return; }
  mra_before_it_is_answered 7471 ucmatose -b "$host" -- ucmatose -s "$host"
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

# rping's CM thread leaves by exit(), while its main thread destroys what the thread of completions uses.
leaves_without_crash() { # SIDE EVENT
  local server client peer victim plan="on $1 $2 1: remove $1 anyrdma0"
  printf '%s\n' "$plan" >"$work/$1.plan"
  [ "$1" = client ] || fault_options=(--faults "$work/server.plan")
  start server rping -s -C 100 -a "$host"
  server=$pid
  fault_options=()
  await_server "$server"
  [ "$1" = server ] || fault_options=(--faults "$work/client.plan")
  start client rping -c -C 100 -a "$host"
  client=$pid
  fault_options=()
  if [ "$1" = server ]; then victim=$server peer=$client; else victim=$client peer=$server; fi
  finish "$victim"
  [ $? != 0 ] || fail "the $1 exits with 0"
  expect_fired "$1" "$plan"
  kill "$peer" 2>/dev/null # it may wait for ever
  finish "$peer"
}

case_process_that_leaves_at_a_request_does_not_crash() { leaves_without_crash server 'fetched CONNECT_REQUEST'; }
case_process_that_leaves_when_it_is_connected_does_not_crash() { leaves_without_crash server 'fetched ESTABLISHED'; }
case_client_that_leaves_when_it_is_connected_does_not_crash() { leaves_without_crash client 'fetched ESTABLISHED'; }
case_process_that_leaves_at_its_first_message_does_not_crash() { leaves_without_crash server 'completion RECV'; }
case_process_that_leaves_at_its_first_read_does_not_crash() { leaves_without_crash server 'completion RDMA_READ'; }

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

# strictly STATUS PLAN PROGRAM...: what `--strict` makes of it; the account is in the log strict.
strictly() {
  printf '%s\n' "$2" >"$work/strict.plan"
  "$anyrdma" run --fabric "$fabric" --faults "$work/strict.plan" --strict -- "${@:3}" >"$work/strict.log" 2>&1
  expect_status "${*:3}" "$1" $?
}

case_strict_wants_faults_of_programs_that_have_nothing_to_do_with_rdma() {
  strictly 3 'on h request 1: reject 28' true
  expect_line strict 'planned 1, armed 0, fired 0, observed 0: on h request 1: reject 28'
  expect_line strict '^anyrdma: the program opened no RDMA device\.'
  expect_line strict '^anyrdma: a planned fault did not happen'
  strictly 1 'on h request 1: reject 28' false
  strictly 0 'maybe on h request 1: reject 28' true
}

# python3 SCRIPT: a program that has used RDMA once, and what it does then
used_rdma() { printf 'import ctypes, os, signal; ctypes.CDLL("librdmacm.so.1").rdma_create_event_channel(); %s' "$1"; }

case_program_that_leaves_without_a_word_has_its_account() {
  local happens='on h call create_event_channel 1: fail ENOMEM' never='on h call create_event_channel 2: fail ENOMEM'
  command -v python3 >/dev/null || { skip "python3 is not installed"; return; }
  strictly 0 "$happens" python3 -c "$(used_rdma 'os._exit(0)')"
  expect_line strict "planned 1, armed 1, fired 1, observed 1: $happens"
  strictly 3 "$never" python3 -c "$(used_rdma 'os._exit(0)')"
  expect_line strict "planned 1, armed 1, fired 0, observed 0: $never"
  strictly 7 "$never" python3 -c "$(used_rdma 'os._exit(7)')"
  strictly 134 "$never" python3 -c "$(used_rdma 'os.abort()')"
  expect_line strict "planned 1, armed 1, fired 0, observed 0: $never"
  for signal in INT TERM KILL; do
    strictly 3 "$never" python3 -c "$(used_rdma "os.kill(os.getpid(), signal.SIG$signal)")"
    expect_line strict "planned 1, armed 1, fired 0, observed 0: $never"
  done
  strictly 139 "$never" python3 -c "$(used_rdma 'os.kill(os.getpid(), signal.SIGSEGV)')"
  strictly 137 "$happens" python3 -c "$(used_rdma 'os.kill(os.getpid(), signal.SIGKILL)')"
  expect_line strict "planned 1, armed 1, fired 1, observed 1: $happens"
}

case_children_are_in_the_same_account() {
  command -v python3 >/dev/null || { skip "python3 is not installed"; return; }
  strictly 0 'on h call create_event_channel 1: fail ENOMEM' sh -c \
    "python3 -c '$(used_rdma 'os.kill(os.getpid(), 9)')'; python3 -c '$(used_rdma 'os._exit(0)')'"
  expect_line strict '^anyrdma: faults, seed 1, in 2 processes:'
  expect_line strict 'planned 1, armed 2, fired 2, observed 2: on h call'
  [ "$(grep -c 'planned 1' "$work/strict.log")" = 1 ] || fail "the account was told more than once"
}

# Whoever sends `anyrdma run` a signal means the program.
case_signalled_program_has_its_account() {
  local signal
  for signal in HUP TERM; do # a shell lets what it starts in the background ignore SIGINT
    with_faults 'on server request 1: reject 28' "by-$signal" rping -s -a "$host"
    await_server "$pid"
    kill -s "$signal" "$pid"
    finish "$pid"
    status=$?
    expect_status "by $signal" "$((128 + $(kill -l "$signal")))" "$status"
    expect_line "by-$signal" 'planned 1, armed 0, fired 0, observed 0: on server request 1: reject 28'
    expect_line "by-$signal" '^anyrdma: a planned fault did not happen'
  done
}

case_plan_for_others_lets_the_program_run() {
  printf 'on server request 1: overflow\non client request 1: overflow\n' >"$work/others.plan"
  ANYRDMA_FAULTS='at 0s: crash here' "$anyrdma" run --fabric "$fabric" --faults "$work/others.plan" --host third --strict -- \
    sh -c 'echo "${ANYRDMA_FAULTS-none}"; exit 4' >"$work/others.log" 2>&1
  expect_status "the program" 4 $?
  expect_line others "^anyrdma: the fault plan $work/others.plan has nothing for the host 'third', only for: client, server\. The program runs without faults\.\$"
  expect_line others '^none$'
}

case_program_that_does_not_exist_is_told_as_ever() {
  printf 'on h request 1: overflow\n' >"$work/any.plan"
  "$anyrdma" run --faults "$work/any.plan" --strict -- ./none >"$work/any.log" 2>&1
  expect_status "no such program" 127 $?
  "$anyrdma" run --faults "$work/any.plan" --strict -- /etc/passwd >>"$work/any.log" 2>&1
  expect_status "no program" 126 $?
  ! grep -q planned "$work/any.log" || fail "an account of what never began"
}

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
  expect_line wrong "^anyrdma: The fault plan $work/wrong.plan is invalid: $2\.\$"
  [ ! -e "$work/started" ] || fail "the program was started"
}

case_wrong_plan_starts_nothing() {
  refused $'# one\non server request 1: rejekt' "line 2: no such action 'rejekt'"
  refused $'# one\n\nat 1s: cut a->b\n' "line 3: the plan names several hosts \(a, b\): say .* \(--host NAME\)"
  refused $'# one\nat 1s: return a anyrdma0' "line 2: over fabric 'return' is not possible"
  refused 'on a routing 1: unrouted EIO' "line 1: over ucma the kernel resolves routes, which cannot be observed" --transport ucma
  refused 'on a request 1: mra 20' "line 1: over ucma only the kernel sends MRA" --transport ucma
  refused 'on a->* REQ 1: alter colour 1' "line 1: a REQ has no field 'colour'"
  refused 'at 1s: kill a/rping' "line 1: over fabric the program is the whole host; write kill a"
  refused 'on a request 1: overflow' "line 1: over ucma .* cannot be dropped" --transport ucma
  refused '{"faults": [{}]}' 'line 1: .*'
  "$anyrdma" run --faults "$work/none" -- touch "$work/started" 2>"$work/wrong.log"
  expect_status "no file" 2 $?
  expect_line wrong "^anyrdma: The fault plan $work/none cannot be read: No such file or directory\. Check the path\."
  "$anyrdma" run --seed 7 -- true 2>"$work/wrong.log"
  expect_status "a seed of nothing" 2 $?
}

run_cases "$@"
