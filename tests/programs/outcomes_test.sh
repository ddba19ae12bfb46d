#!/usr/bin/env bash
# Faults in real time are carried out before a program can go on, so a plan has one outcome: exit statuses, what both
# programs print, and what became of each fault. One plan serves both.
#
# ucmatose has one thread. rping has three, and those races are its own, on any transport: its CM thread wakes the main
# thread and then calls exit(), after REJECTED and DEVICE_REMOVAL, while the main thread may still say what it
# waited for, or not; its client may end before it has taken the DISCONNECTED that its own disconnection
# leads to; and an error of its peer's is told by a completion and by an event, whichever thread is first.
# So rping is struck here only where it is determined what it says.
. tests/programs/lib.sh
need rping ucmatose

repetitions=${REPETITIONS:-2}

# play SERVER CLIENT: both with $plan. The outcome is printed.
play() {
  local server client ends=()
  fault_options=(--faults "$work/both.plan" --host server)
  start server $1
  server=$pid
  case $1 in rping*) await_listener tcp "$host" 7174 "$server" ;; *) await_listener tcp "$host" 7471 "$server" ;; esac ||
    fail "the server does not listen"
  fault_options=(--faults "$work/both.plan" --host client)
  start client $2
  client=$pid
  fault_options=()
  finish "$client"
  ends[1]=$?
  [ "$needs_end" = no ] || kill "$server" 2>/dev/null
  finish "$server"
  ends[0]=$?
  printf 'server %s\n' "${ends[0]}"
  outcome_of server
  printf 'client %s\n' "${ends[1]}"
  outcome_of client
}

outcome_of() { # NAME
  sed -E "s|$work/|/|; s/-CONT [0-9]+/-CONT PID/; s/^/  /" "$work/$1.log"
}

# same_every_time SERVER CLIENT <OUTCOME
same_every_time() {
  local run
  printf '%s\n' "$plan" >"$work/both.plan"
  cat >"$work/expected.log"
  for ((run = 1; run <= repetitions; run++)); do
    play "$@" >"$work/outcome.log"
    [ "$case_failed" = 0 ] || cat "$work/outcome.log"
    diff "$work/expected.log" "$work/outcome.log" >"$work/difference.log" && continue
    fail "run $run has another outcome:"
    cat "$work/difference.log"
    return
  done
}

needs_end=no # the server waits for another client: SIGTERM

case_request_that_is_turned_away() {
  plan='on server request 1: reject 28 6275737900'
  needs_end=yes
  same_every_time "ucmatose -b $host" "ucmatose -s $host" <<'END'
server 143
  cmatose: starting server
  anyrdma: fault: on server request 1: reject 28 6275737900
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server request 1: reject 28 6275737900
client 28
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  cmatose: event: RDMA_CM_EVENT_REJECTED, error: 28
  test complete
  return status 28
END
}

case_device_that_goes_with_a_request() {
  plan='on server fetched CONNECT_REQUEST 1: remove server anyrdma0'
  same_every_time "ucmatose -b $host" "ucmatose -s $host" <<'END'
server 244
  cmatose: starting server
  anyrdma: fault: on server fetched CONNECT_REQUEST 1: remove server anyrdma0
  cmatose: unable to allocate PD
  cmatose: failing connection request
  test complete
  return status -12
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server fetched CONNECT_REQUEST 1: remove server anyrdma0
client 28
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  cmatose: event: RDMA_CM_EVENT_REJECTED, error: 28
  test complete
  return status 28
END
}

case_device_that_goes_when_the_server_is_connected() {
  plan='on server fetched ESTABLISHED 1: remove server anyrdma0'
  same_every_time "ucmatose -b $host" "ucmatose -s $host -C 0" <<'END'
server 5
  cmatose: starting server
  anyrdma: fault: on server fetched ESTABLISHED 1: remove server anyrdma0
  initiating data transfers
  failed to post sends: 5
  test complete
  return status 5
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server fetched ESTABLISHED 1: remove server anyrdma0
client 0
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  test complete
  return status 0
END
}

case_device_that_goes_when_the_client_has_an_address() {
  plan='on client fetched ADDR_RESOLVED 1: remove client anyrdma0'
  needs_end=yes
  same_every_time "ucmatose -b $host" "ucmatose -s $host" <<'END'
server 143
  anyrdma: the fault plan /both.plan has nothing for the host 'server', only for: client. The program runs without faults.
  cmatose: starting server
client 255
  cmatose: starting client
  cmatose: connecting
  anyrdma: fault: on client fetched ADDR_RESOLVED 1: remove client anyrdma0
  cmatose: resolve route failed: No such device or address
  test complete
  return status -1
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on client fetched ADDR_RESOLVED 1: remove client anyrdma0
END
}

case_client_that_dies_when_it_is_connected() {
  plan='on client fetched ESTABLISHED 1: crash client'
  same_every_time "ucmatose -b $host -C 0" "ucmatose -s $host -C 0" <<'END'
server 0
  anyrdma: the fault plan /both.plan has nothing for the host 'server', only for: client. The program runs without faults.
  cmatose: starting server
  cmatose: disconnecting
  disconnected
  test complete
  return status 0
client 137
  cmatose: starting client
  cmatose: connecting
  anyrdma: fault: on client fetched ESTABLISHED 1: crash client
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on client fetched ESTABLISHED 1: crash client
END
}

case_server_that_dies_when_it_is_connected() {
  plan='on server fetched ESTABLISHED 1: crash server'
  same_every_time "ucmatose -b $host -C 0" "ucmatose -s $host -C 0" <<'END'
server 137
  cmatose: starting server
  anyrdma: fault: on server fetched ESTABLISHED 1: crash server
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server fetched ESTABLISHED 1: crash server
client 0
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  test complete
  return status 0
END
}

case_accept_that_fails() {
  plan='on server call accept 1: fail ENOMEM'
  same_every_time "ucmatose -b $host" "ucmatose -s $host" <<'END'
server 255
  cmatose: starting server
  anyrdma: fault: on server call accept 1: fail ENOMEM
  cmatose: failure accepting: Cannot allocate memory
  cmatose: failing connection request
  test complete
  return status -1
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server call accept 1: fail ENOMEM
client 28
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  cmatose: event: RDMA_CM_EVENT_REJECTED, error: 28
  test complete
  return status 28
END
}

case_device_that_goes_with_the_first_message() {
  plan='on server completion SEND 1: remove server anyrdma0'
  same_every_time "ucmatose -b $host" "ucmatose -s $host -C 0" <<'END'
server 5
  cmatose: starting server
  initiating data transfers
  anyrdma: fault: on server completion SEND 1: remove server anyrdma0
  failed to post sends: 5
  test complete
  return status 5
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server completion SEND 1: remove server anyrdma0
client 0
  anyrdma: the fault plan /both.plan has nothing for the host 'client', only for: server. The program runs without faults.
  cmatose: starting client
  cmatose: connecting
  test complete
  return status 0
END
}

case_client_without_a_completion_queue() {
  plan='on client call create_cq 1: fail ENOMEM'
  needs_end=yes
  same_every_time "rping -s -a $host -C 10" "rping -c -a $host -C 10" <<'END'
server 143
  anyrdma: the fault plan /both.plan has nothing for the host 'server', only for: client. The program runs without faults.
client 12
  anyrdma: fault: on client call create_cq 1: fail ENOMEM
  ibv_create_cq failed
  setup_qp failed: 12
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on client call create_cq 1: fail ENOMEM
END
}

case_late_request_of_a_client_that_dies() {
  plan='on server queued CONNECT_REQUEST 1: hold 300ms
on client fetched ESTABLISHED 1: crash client'
  same_every_time "rping -s -a $host -C 10" "rping -c -a $host -C 10" <<'END'
server 0
  anyrdma: fault: on server queued CONNECT_REQUEST 1: hold 300ms
  server DISCONNECT EVENT...
  wait for RDMA_READ_ADV state 10
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on server queued CONNECT_REQUEST 1: hold 300ms
client 137
  anyrdma: fault: on client fetched ESTABLISHED 1: crash client
  anyrdma: faults, seed 1:
    planned 1, armed 1, fired 1, observed 1: on client fetched ESTABLISHED 1: crash client
END
}

case_client_without_a_third_region() {
  plan='on client call reg_mr 3: fail ENOMEM'
  needs_end=yes
  same_every_time "rping -s -a $host -C 10" "rping -c -a $host -C 10" <<'END'
server 143
  anyrdma: the fault plan /both.plan has nothing for the host 'server', only for: client. The program runs without faults.
client 12
  anyrdma: fault: on client call reg_mr 3: fail ENOMEM
  rdma_buf reg_mr failed
  rping_setup_buffers failed: 12
  anyrdma: faults, seed 1:
    planned 1, armed 3, fired 1, observed 1: on client call reg_mr 3: fail ENOMEM
END
}

run_cases "$@"
