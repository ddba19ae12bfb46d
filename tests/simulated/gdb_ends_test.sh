#!/usr/bin/env bash
# What may go wrong between gdb and a run (docs/debugging.md): a gdb that sends nonsense, is killed or comes twice, and
# programs that end, execute another program or are killed under a breakpoint.
. tests/simulated/lib.sh
. tests/simulated/gdb.sh

command -v python3 >/dev/null || skip_all "python3 is not installed"

# speak NAME: the run of the pair, and a program of stdin in Python that is connected to it as `s`.
speak() {
  local name=$1 run
  cat >"$work/$name.py" <<'PYTHON'
import os, socket, sys

def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.settimeout(float(os.environ["DEADLINE"]))
    s.connect(sys.argv[1])
    return s

def packet(text):
    return b"$" + text.encode() + b"#%02x" % (sum(text.encode()) % 256)

def ask(text):
    s.sendall(packet(text))
    answer = b""
    while not (len(answer) > 3 and answer[-3:-2] == b"#"):
        part = s.recv(65536)
        if not part:
            return answer
        answer += part
    return answer

s = connect()
PYTHON
  cat >>"$work/$name.py"
  timeout -k 5 "$deadline" tools/bin/anyrdma sim "${pair[@]}" --gdb "$socket" >"$work/$name.out" 2>&1 </dev/null &
  run=$!
  timeout "$deadline" bash -c "until [ -S '$socket' ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done"
  DEADLINE=$deadline timeout -k 5 "$deadline" python3 "$work/$name.py" "$socket" >"$work/$name.log" 2>&1 ||
    fail "the client fails: $(cat "$work/$name.log")"
  wait "$run"
  status=$?
}

tools/bin/anyrdma sim "${pair[@]}" >"$work/plain.out" 2>&1

checks 'nonsense is no command, and the run goes on when the sender leaves'
speak nonsense <<'PYTHON'
s.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)) * 64)
s.sendall(b"$g#00$#00$vCont;c:zz#00+++---")
for text in ("p", "m,", "mffffffffffffffff,ffffffff", "M0,4:zz", "Hgp-5.x", "vCont;", "vCont;s:p9.9", "Z9,0,0",
             "Z0,,", "qXfer:features:read::-1,5", "qXfer:nothing:read::0,10", "qRcmd,0", "qRcmd,zz", "T", "D;zz",
             "vFile:open:", "X0,10:", "G00", "P999999=00", "bc1", "\x00\x01\x02"):
    answer = ask(text)
    assert answer.endswith(b"#", 0, len(answer) - 2) and b"$" in answer, (text, answer)
assert b"#" in ask("qSupported:multiprocess+")
PYTHON
same_run nonsense
ends

checks 'a packet without an end does not hold the run'
speak cut <<'PYTHON'
s.sendall(b"$m0," + b"0" * 100000)
s.close()
PYTHON
same_run cut
ends

checks 'a client that leaves while the programs run leaves them alone'
speak leaves <<'PYTHON'
ask("?")
s.sendall(packet("vCont;c"))
s.close()
PYTHON
same_run leaves
ends

checks 'a second gdb is not let in, and the first one goes on'
speak second <<'PYTHON'
ask("?")
try:
    connect()
    print("a second client has been let in")
except OSError:
    print("refused")
assert b"#" in ask("?")
PYTHON
log_says second '^refused'
same_run second
ends

checks 'a gdb that is killed leaves the run alone'
timeout -k 5 "$deadline" tools/bin/anyrdma sim "${pair[@]}" --gdb "$socket" >"$work/killed.out" 2>&1 </dev/null &
run=$!
timeout "$deadline" bash -c "until [ -S '$socket' ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done"
timeout -k 5 "$deadline" gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set remotetimeout 60' \
  -ex 'set schedule-multiple on' -ex "target extended-remote $socket" -ex 'break bump' -ex 'continue' \
  -ex 'python import os; os.kill(os.getpid(), 9)' >"$work/killed.log" 2>&1 </dev/null
wait "$run"
status=$?
log_says killed 'hit Breakpoint 1'
same_run killed
ends

checks 'a program that executes another one under a breakpoint is followed'
debug executes --seed 7 --host server=10.0.0.1 --host client=10.0.0.2 \
  --on server "sh -c 'exec $work/debugged'" --on client "$work/debugged 10.0.0.1" <<'COMMANDS'
set breakpoint pending on
break main
continue
continue
break bump
continue
info inferiors
delete
continue
COMMANDS
log_says executes "is executing new program: $work/debugged"
log_says executes 'Thread 1.2 "server/debugged/2" hit Breakpoint 2|Thread 1.2 "server/sh/2" hit Breakpoint 2'
grep 'heard hello, counter 3, child 13' "$work/executes.out" >/dev/null || fail "the programs say something else"
[ "$status" = 0 ] || fail "exit status $status"
ends

checks 'a program that is killed under a breakpoint is gone, and the others go on'
printf 'at 10.5ms: kill server\n' >"$work/kill.plan"
debug dies "${pair[@]}" --faults "$work/kill.plan" <<'COMMANDS'
break bump
break call
continue
monitor fault kill server
delete
continue
COMMANDS
log_says dies 'hit Breakpoint'
grep -E 'server/debugged .*(signal 9|killed)' "$work/dies.out" >/dev/null || fail "$(tail -n 5 "$work/dies.out")"
ends

checks 'a program that ends with breakpoints in it does not stop the run'
debug ends_there "${pair[@]}" <<'COMMANDS'
break call
continue
finish
break serve
break *$pc
continue
COMMANDS
log_says ends_there 'exited normally'
same_run ends_there
ends

checks 'a program without symbols is debugged by addresses'
cp "$work/debugged" "$work/whole"
strip "$work/debugged"
debug stripped "${pair[@]}" <<'COMMANDS'
info symbol $pc
info threads
stepi
print/x $pc
info registers rsp
continue
COMMANDS
cp "$work/whole" "$work/debugged"
log_says stripped '^.1 = 0x[0-9a-f]+'
log_says stripped '^rsp '
same_run stripped
ends

# search NAME: a run in which gdb has been told to go back over minutes of single steps.
search() {
  # Whoever is started in the background of a script would ignore SIGINT.
  env --default-signal=INT tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$work/debugged compute" --gdb "$socket" >"$work/$1.out" 2>&1 </dev/null &
  run=$!
  timeout "$deadline" bash -c "until [ -S '$socket' ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done"
  timeout -k 5 "$deadline" gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set remotetimeout 60' \
    -ex 'set schedule-multiple on' -ex "target extended-remote $socket" -ex 'break bump' -ex 'continue' \
    -ex 'info threads' -ex 'reverse-stepi' >"$work/$1.log" 2>&1 </dev/null &
  gdb=$!
  timeout "$deadline" bash -c "until grep -q 'here/debugged\"' '$work/$1.log' || ! kill -0 $gdb 2>/dev/null; do sleep 0.05; done"
}

for signal in TERM INT; do
  checks "SIG$signal ends a run that is searched backwards, within seconds"
  search "by_$signal"
  begin=$SECONDS
  kill -"$signal" "$run" || fail "the run has ended by itself: $(cat "$work/by_$signal.log")"
  timeout 30 tail --pid="$run" -f /dev/null || kill -KILL "$run"
  wait "$run"
  status=$?
  [ $((SECONDS - begin)) -lt 30 ] || fail "it needs $((SECONDS - begin)) s to end"
  [ "$status" != 0 ] || fail "exit status 0"
  wait "$gdb"
  ends
done

checks 'a path that no socket can have is refused'
long=$work/$(printf 'x%.0s' {1..120})
for path in "$long" "$work/nowhere/socket"; do
  tools/bin/anyrdma sim "${pair[@]}" --gdb "$path" >"$work/path.out" 2>&1 </dev/null
  [ $? = 2 ] || fail "exit status $?"
  grep "gdb's socket .* cannot be made" "$work/path.out" >/dev/null || fail "$(cat "$work/path.out")"
done
ends

printf '%s cases, %s failed\n' "$cases" "$failures"
[ "$failures" = 0 ]
