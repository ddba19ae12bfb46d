#!/usr/bin/env bash
# What a fault plan does to programs, as they are: in their processes, on their hosts, once for all of a host.
. tests/simulated/lib.sh

# plan LINE...: of the cases that follow
plan() {
  printf '%s\n' "$@" >"$work/plan"
  settings=(--faults "$work/plan")
}

server='rping -s -a 10.0.0.1 -C 10'
client='rping -c -a 10.0.0.1 -C 10'
expected=1 # one of them ends with another status than 0

plan 'on client1 completion SEND 6: remove client1 anyrdma0'
says='client1/rping: cma detected device removal'
apart removal_amid_pings "$server" "$client"

plan 'on client1->server REQ 1: remove server anyrdma0'
says='client1/rping: cma event RDMA_CM_EVENT_REJECTED'
apart removal_by_a_packet "$server" "$client"

plan 'on client1 completion RECV 3: complete LOC_PROT_ERR'
says='client1/rping: cq completion failed status 4'
apart completion_in_error "$server" "$client"

plan 'on server fetched ESTABLISHED 1: fail-over server eth0'
says='client1/rping: cma event RDMA_CM_EVENT_UNREACHABLE'
apart address_change "$server -d" "$client -d"

plan 'on server completion RECV 3: port-down server anyrdma0'
says='server/rping: cq completion failed status 12'
apart port_that_loses_its_link "$server" "$client"

plan 'on server completion RECV 3: qp-error server#qp1 QP_FATAL'
says='planned 1, armed 3, fired 1, observed 1: on server completion RECV 3: qp-error'
apart queue_pair_in_error "$server" "$client"

# What is left waits as before: the thread of the drop-in itself, too.
plan 'on server completion RECV 3: cq-overrun server#cq1'
says='server/rping/2 waits for descriptors'
apart completion_queue_overrun "$server" "$client"

plan 'on server request 1: reject 28 6275737900'
says='client1/rping: cma event RDMA_CM_EVENT_REJECTED, error 28'
apart rejection "$server" "$client"

plan 'at 1ms: crash server'
says='server/rping went down with its host'
apart crash "$server" "$client"

# What the plan has killed is to end so.
expected=0
plan 'on server completion RECV 3: kill server'
says='^server/rping was ended by signal 9'
apart kill "$server" "$client"

# Its kernel still answers a peer that has said goodbye.
plan 'on server fetched DISCONNECTED 1: kill server'
says='^[0-2]\.[0-9]+ client1/cmtime:\s+[Dd]estroying (id|IDs)'
apart kill_of_who_owes_an_answer 'cmtime -c 1' 'cmtime -s 10.0.0.1 -c 1'

expected=1

# One alone: who runs beside it goes on, and the second one of a name is none before the first.
plan 'on client1->server REQ 1: kill server/rping'
says='^client1/rping: .*RDMA_CM_EVENT_(REJECTED|UNREACHABLE)|^client1/rping ended with status [^0]'
apart kill_of_one "$server" "$client"

expected=0

plan 'at 5s: kill here/sleep#2'
says='^here/sleep was ended by signal 9'
alike kill_of_the_second 'sleep 1' 'sleep 20' 'sleep 3'

# A shell is killed, and what it has started goes on.
plan 'at 1s: kill here/sh'
says='^here/sh was ended by signal 9'
alike kill_of_a_parent 'sh -c "sleep 3; true"' 'sleep 5'

plan 'at 1ms: crash server' 'at 5ms: restart server'
says='server/rping ended with status 0'
apart crash_and_restart "$server" "$client"

plan 'at 1ms: crash server for 4ms'
apart crash_for_a_time "$server" "$client"

# Nobody else runs, or has anything to do until then.
plan 'at 1s: crash client1 for 1s'
says='^seed 1, 7\.0.* s of virtual time'
apart crash_of_the_last_for_a_time 'true' 'sleep 5'

plan 'between 1s and 2s: crash client1 for 1s'
says='^seed 1, [78]\.[0-9]* s of virtual time'
apart crash_at_an_instant_of_a_window 'true' 'sleep 5'

# The program alone: its neighbour goes on, and it has slept long enough when it goes on.
plan 'at 500ms: pause here/bash for 10s'
says='^10\.5[0-9]* here/bash: late'
alike pause_of_a_program "bash -c 'sleep 1; echo late'" 'sleep 2'

plan 'at 500ms: pause here/sleep#2 for 10s'
says='^seed 1, 10\.5[0-9]* s of virtual time'
alike pause_of_the_second 'sleep 1' 'sleep 2'

# Its device goes on, as a NIC does: the writes of a peer arrive, and are acknowledged.
plan 'at 11ms: pause server/ib_write_bw for 1s'
says='^client1/ib_write_bw ended with status 0'
apart pause_of_who_is_written_to 'ib_write_bw -n 20' 'ib_write_bw -n 20 server'

plan 'on server completion RECV 2: pause server/rping for 10s'
says='^seed 1, 10\.0[0-9]* s of virtual time'
apart pause_of_who_is_to_answer "$server" "$client"

plan 'on server fetched ESTABLISHED 1: pause server/rping/3 for 2s'
says='observed 1: on server fetched ESTABLISHED 1: pause server/rping/3 for 2s'
apart pause_of_a_thread "$server" "$client"

# A program whose host starts again did not end, though no other program runs.
plan 'at 1s: crash client1' 'at 2s: restart client1'
says='^seed 1, 7\.0.* s of virtual time'
apart restart_of_the_last 'true' 'sleep 5'

plan 'at 2s: restart client1'
apart restart_without_a_crash 'true' 'sleep 5'

# Threads wait for each other when the power goes.
plan 'on server->client1 REP 2: crash client1'
says='client1/cmtime went down with its host'
table_row crash_amid_threads "'cmtime'" --host server=10.0.0.1 --host client1=10.0.0.2 --background server 'cmtime -b 10.0.0.1 -c 3' \
  --on client1 'cmtime -s 10.0.0.1 -c 3'

expected=1

# Two processes of one host are counted together: the first one's call fails, and not the second one's.
plan 'on client call create_qp 1: fail ENOMEM'
says='^client/rping ended with status 0'

table_row one_call_of_two_processes "'rping'" --host server=10.0.0.1 --host client=10.0.0.2 --background server 'rping -s -P -a 10.0.0.1' \
  --on client "$client" --on client "$client"

# --- explored -----------------------------------------------------------------------------------

cat >"$work/removal.scenario" <<'SCENARIO'
host server 10.0.0.1
host client 10.0.0.2
on server rping -s -a 10.0.0.1 -C 2
on client rping -c -a 10.0.0.1 -C 2
expect client/rping status 0 255
expect server/rping any status
expect client/rping no output device removal
menu on client completion SEND 2: remove client anyrdma0
menu on client call reg_mr 40: fail ENOMEM
menu on server completion RECV 1: slow-consumer server 1ms
SCENARIO

# Of the menu only what matters is left, and the command that is printed repeats it.
explored() {
  local log=$work/explored.log trial run
  timeout -k 5 "$deadline" tools/bin/anyrdma explore "$work/removal.scenario" --seeds 8 --schedule fifo --jobs 1 \
    >"$log" 2>&1
  [ $? = 1 ] || fail "explore has found nothing"
  trial=$(sed -n "s/^again: anyrdma replay .* '\(.*\)'\$/\1/p" "$log" | tail -n 1) # the one before is not shrunk
  [[ $trial == "seed "*"; maybe on client completion SEND 2: remove client anyrdma0" ]] ||
    fail "what is left is '$trial'"
  for run in first second; do
    timeout -k 5 "$deadline" tools/bin/anyrdma replay --trace "$work/removal.scenario" "$trial" >"$work/$run.log" 2>&1
    [ $? = 1 ] || fail "replay finds nothing"
  done
  same "the replay once more" second
  grep -q "$(sed -n 's/.*trace hash 0x\([0-9a-f]*\),.*/trace hash \1/p' "$log" | tail -n 1)\$" "$work/first.log" ||
    fail "the replay has another hash than what was found"
  for line in "client/rping printed 'device removal'" 'planned 1, armed .*, fired 1, observed 1: maybe on client completion'; do
    grep -qE "^(anyrdma: )?$line" "$work/first.log" || fail "the replay does not say: $line"
  done
  grep -q 'FAULT .*remove client anyrdma0' "$work/first.log" || fail "the fault is not in the trace"
}
if is_mine; then
  printf '  explored_and_replayed\n'
  case_failed=0
  explored
  [ "$case_failed" = 0 ] || tail -n 20 "$work/explored.log" "$work/first.log" | cut -c1-200 | sed 's/^/      /'
  failures=$((failures + case_failed))
fi

# --- refused ------------------------------------------------------------------------------------

refused() { # LINE SENTENCE
  echo "$1" >"$work/plan"
  tools/bin/anyrdma sim --host server=10.0.0.1 --on server true --faults "$work/plan" >"$work/first.log" 2>&1
  [ $? = 2 ] || fail "'$1' is not refused"
  grep -qF -- "$2" "$work/first.log" || fail "of '$1' it says $(cat "$work/first.log")"
}
if is_mine; then
  printf '  what_cannot_be_done_is_refused\n'
  case_failed=0
  refused 'at 1s: return server anyrdma1' "line 1: no device 'anyrdma1' on that host."
  refused 'at 1s: add-address server eth1 10.0.0.9/24' "line 1: no interface 'eth1' on that host."
  refused 'at 1s: flap server anyrdma0/2 1ms every 1s' "line 1: no port 2 of the device 'anyrdma0'."
  refused 'on server/eth1->* packet 1: lose' "line 1: no interface 'eth1' on that host."
  refused 'at 1s: remove server anyrdma1' "line 1: no device 'anyrdma1' on that host."
  refused 'at 1s: kill server/tru' "line 1: no program 'tru' on that host."
  refused 'at 1s: kill server/true#2' "line 1: no program 'true#2' on that host, which starts 1 of that name."
  refused 'on server queued ESTABLISHED 1: hold 1s' "line 1: 'hold' is not possible on simulated hosts"
  failures=$((failures + case_failed))
fi

finish
