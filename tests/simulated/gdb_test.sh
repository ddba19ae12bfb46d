#!/usr/bin/env bash
# One gdb for all programs of a run (docs/debugging.md): Debian's gdb, in batch mode.
. tests/simulated/lib.sh
. tests/simulated/gdb.sh

tools/bin/anyrdma sim "${pair[@]}" >"$work/plain.out" 2>&1

checks 'it breaks in a server and a client, steps a thread and follows a fork'
debug look "${pair[@]}" <<'COMMANDS'
break call
break bump
continue
print address
info threads
continue
print by
print counter
step
next
info inferiors
delete
break in_child
continue
print counter
finish
continue
COMMANDS
log_says look 'Thread 2.1 "client/debugged" hit Breakpoint 1'
log_says look '= 0x[0-9a-f]+ "10.0.0.1"'
log_says look 'Thread 1.1 "server/debugged"'
log_says look 'Thread 1.2 "server/debugged/2" hit Breakpoint 2'
log_says look '^18.*counter \+= by;'
log_says look 'Thread 3.1 "server/debugged.2" hit Breakpoint 3'
log_says look 'Value returned is .* = 13'
log_says look 'exited normally'
same_run look
ends

checks 'a watchpoint goes back to the write before'
debug back "${pair[@]}" <<'COMMANDS'
break work
continue
watch counter
continue
continue
continue
reverse-continue
print counter
reverse-continue
print counter
bt 2
delete
break bump
reverse-continue
set $here = $pc
reverse-stepi
print $pc < $here
stepi
print $pc == $here
monitor goto 10.001ms
delete
continue
monitor hosts
continue
COMMANDS
log_says back 'New value = 3'
log_says back '^.1 = 2$'
log_says back '^.2 = 1$'
log_says back '#1 .* in work '
log_says back 'hit Breakpoint 3'
log_says back '^.3 = 1$'
log_says back '^.4 = 1$'
log_says back '^at 0.01000'
same_run back
ends

checks 'a search backwards without a hit ends at the beginning of the run'
debug never "${pair[@]}" <<'COMMANDS'
break bump
continue
delete
watch times
reverse-continue
monitor hosts
delete
continue
COMMANDS
log_says never 'No more reverse-execution history'
log_says never '^at 0.000000000'
same_run never
ends

checks 'it may leave at once, and the run goes on'
debug gone "${pair[@]}" <<'COMMANDS'
break bump
COMMANDS
same_run gone
ends

checks 'a crash and a deadlock stop where they are'
debug crash --host here=10.0.0.1 --on here "$work/debugged crash" <<'COMMANDS'
monitor goto failure
continue
bt
continue
COMMANDS
log_says crash 'SIGSEGV'
log_says crash '#0 .* crash \(\)'
[ "$status" = 1 ] || fail "exit status $status"
debug hang --host here=10.0.0.1 --on here "$work/debugged hang" <<'COMMANDS'
continue
bt
monitor who
detach
COMMANDS
log_says hang 'deadlock: no event is pending'
log_says hang 'in hang \(\)'
log_says hang 'here/debugged waits for a futex'
[ "$status" = 1 ] || fail "exit status $status"
ends

# record OPTION...: a run without gdb, whose records are numbered
record() {
  tools/bin/anyrdma sim "$@" --record "$work/plain.recording" >/dev/null
  tools/bin/anyrdma trace "$work/plain.recording" --numbers >"$work/records"
}

# number_of PATTERN: of the first such record
number_of() { sed -n "s/^#\([0-9]*\) .*$1.*/\1/p" "$work/records" | head -n 1; }

checks 'it goes to a record by its number'
record "${pair[@]}"
debug record "${pair[@]}" <<COMMANDS
monitor goto record $(number_of 'out: heard')
continue
bt
monitor packets 2
monitor goto record $(number_of 'waits for a connection')
continue
bt
monitor ids
monitor record $work/cut.recording
monitor goto record 4000
continue
COMMANDS
log_says record 'process 2 is executing new program'
log_says record 'Thread 1.1 "server/debugged" received signal SIGTRAP'
log_says record '#[0-9]+ .* in (serve|main) \('
log_says record 'TCP 7>[0-9]* ACK'
log_says record 'Thread 2.1 "client/debugged" received signal SIGTRAP'
log_says record '#[0-9]+ .* in call \(address='
log_says record 'no program has an id'
log_says record "there is no record 4000: the run has $(wc -l <"$work/records")"
same_run record
tools/bin/anyrdma trace "$work/cut.recording" >"$work/cut" 2>&1
grep 'waits for a connection' "$work/cut" >/dev/null && fail "it stops after the record"
grep 'client/debugged waits for time to pass' "$work/cut" >/dev/null || fail "the recording of the run up to now lacks what was before the record"
ends

checks 'a number of a record that the run does not have is refused after the first run, too'
debug beyond "${pair[@]}" <<'COMMANDS'
monitor goto record 4000
continue
monitor hosts
continue
COMMANDS
log_says beyond 'there is no record 4000'
log_says beyond '^at 0.000000000'
same_run beyond
ends

checks 'the queue pairs, packets and ids of an RDMA program are listed'
if command -v rping >/dev/null; then
  rpings=(--host server=10.0.0.1 --host client=10.0.0.2
    --on server 'rping -s -a 10.0.0.1 -C 2' --on client 'rping -c -a server -C 2')
  record "${rpings[@]}"
  debug rping "${rpings[@]}" <<COMMANDS
monitor packets
monitor goto record $(number_of 'client.rping ibv_post_send')
continue
monitor ids
monitor qp $(sed -n 's/.* server -> client REP .* qpn=\(0x[0-9a-f]*\) .*/\1/p' "$work/records")
monitor packets 3
COMMANDS
  log_says rping 'no packet has been sent yet'
  log_says rping '^client/rping.2.#1 CONNECT since 0.01'
  log_says rping '^server#qp0x[0-9a-f]+ RTS since'
  log_says rping 'Thread 2.1 "client/rping" received signal SIGTRAP'
  log_says rping 'these are on their way'
  [ "$status" = 0 ] || fail "exit status $status"
fi
ends

checks 'a fault now leads the run away from its trial'
debug fault "${pair[@]}" <<'COMMANDS'
monitor goto 1us
continue
monitor fault
monitor fault lose
monitor fault at 5ms: cut client->server
monitor fault cut client->nobody
monitor fault cut client<->server
continue
COMMANDS
log_says fault "^unknown: 'fault'"
log_says fault "fault: 'lose' happens to a message or packet only"
log_says fault 'fault: name the action alone'
log_says fault "fault: no host 'nobody'"
log_says fault 'The run leaves its recorded path'
grep 'fired 1, .*cut client<->server' "$work/fault.out" >/dev/null || fail "the fault did not happen"
grep 'the run was not that of its trial' "$work/fault.out" >/dev/null || fail "the end does not say so"
ends

checks 'what monitor cannot do is refused in a sentence'
debug wrong "${pair[@]}" <<'COMMANDS'
monitor goto
monitor goto soon
monitor goto record x
monitor packets x
monitor qp
monitor qp 0x1
monitor record /nowhere/x
monitor dance
COMMANDS
log_says wrong "goto: '' is no moment of a run"
log_says wrong "goto: 'soon' is no moment of a run"
log_says wrong "goto: 'x' is no number of a record"
log_says wrong "packets: 'x' is no number"
log_says wrong "there is no queue pair ''"
log_says wrong "there is no queue pair '0x1'"
log_says wrong "record: '/nowhere/x' cannot be written: No such file"
log_says wrong "unknown: 'dance'"
same_run wrong
ends

checks 'the command that a failure prints opens gdb at the failure'
tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$work/debugged hang" 2>"$work/failure" >/dev/null
[ "$(tail -n 1 "$work/failure")" = \
  "debug: anyrdma sim --host here=10.0.0.1 --on here '$work/debugged hang' --gdb --goto failure" ] ||
  fail "it prints: $(tail -n 1 "$work/failure")"
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -nx -batch -ex "set debuginfod enabled off" "$@" -ex bt -ex detach\n' \
  "$(command -v gdb)" >"$work/bin/gdb"
chmod +x "$work/bin/gdb"
PATH=$PWD/tools/bin:$work/bin:$PATH timeout -k 5 "$deadline" \
  bash -c "$(sed -n 's/^debug: //p' "$work/failure")" >"$work/opened.log" 2>&1 </dev/null
log_says opened '#[0-9]+ .* in hang \(\)'
for wrong in "--goto failure" "--gdb $work/unused --goto soon" "--gdb $work/unused --goto record"; do
  # shellcheck disable=SC2086
  tools/bin/anyrdma sim "${pair[@]}" $wrong >"$work/usage" 2>&1
  [ $? = 2 ] || fail "'$wrong' is not refused: $(cat "$work/usage")"
  grep -- '^anyrdma: --goto' "$work/usage" >/dev/null || fail "'$wrong': $(cat "$work/usage")"
done
ends

checks 'a kill ends the run'
debug kill "${pair[@]}" <<'COMMANDS'
kill
COMMANDS
[ "$status" = 1 ] || fail "exit status $status: $(tail -n 3 "$work/kill.out")"
grep 'gdb has ended the run' "$work/kill.out" >/dev/null || fail "it does not say so"
ends

checks 'a file in the way is not overwritten'
: >"$work/there"
tools/bin/anyrdma sim "${pair[@]}" --gdb "$work/there" >"$work/there.out" 2>&1
[ $? = 2 ] || fail "exit status $?"
grep 'there is a file of that name' "$work/there.out" >/dev/null || fail "$(cat "$work/there.out")"
ends

printf '%s cases, %s failed\n' "$cases" "$failures"
[ "$failures" = 0 ]
