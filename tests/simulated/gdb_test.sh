#!/usr/bin/env bash
# One gdb for all programs of a run (docs/debugging.md): Debian's gdb, in batch mode.
. tests/simulated/lib.sh

command -v gdb >/dev/null || skip_all "gdb is not installed"

install -m 755 tests/simulated/debugged "$work/debugged"
socket=$work/socket
pair=(--seed 7 --host server=10.0.0.1 --host client=10.0.0.2
  --on server "$work/debugged" --on client "$work/debugged 10.0.0.1")

# debug NAME OPTION...: `anyrdma sim` with these, and gdb with the commands of stdin after it has connected.
debug() {
  local name=$1 run
  shift
  cat >"$work/$name.gdb"
  timeout -k 5 "$deadline" tools/bin/anyrdma sim "$@" --gdb "$socket" >"$work/$name.out" 2>&1 </dev/null &
  run=$!
  timeout "$deadline" bash -c "until [ -S '$socket' ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done"
  timeout -k 5 "$deadline" gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set confirm off' \
    -ex 'set schedule-multiple on' -ex "target extended-remote $socket" -x "$work/$name.gdb" \
    >"$work/$name.log" 2>&1 </dev/null
  wait "$run"
  status=$?
}

log_says() { # NAME PATTERN
  grep -E -- "$2" "$work/$1.log" >/dev/null ||
    fail "gdb does not say '$2':"$'\n'"$(tail -n 30 "$work/$1.log")"$'\n'"$(tail -n 5 "$work/$1.out")"
}

hash_of() { sed -n 's/.*trace hash //p' "$work/$1.out"; }

# same_run NAME: it has ended as without gdb.
same_run() {
  [ "$status" = 0 ] || fail "exit status $status: $(tail -n 5 "$work/$1.out")"
  [ -n "$(hash_of plain)" ] || fail "the run without gdb has no hash"
  [ "$(hash_of "$1")" = "$(hash_of plain)" ] || fail "another run: $(hash_of "$1"), not $(hash_of plain)"
  cmp -s <(grep heard "$work/plain.out") <(grep heard "$work/$1.out") || fail "the programs say something else"
}

checks() { # NAME
  case_failed=
  cases=$((cases + 1))
  printf -- '-- %s\n' "$1"
}

ends() {
  [ -z "$case_failed" ] || failures=$((failures + 1))
}

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
