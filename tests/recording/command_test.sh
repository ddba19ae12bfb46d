#!/usr/bin/env bash
# Recordings by the command: of programs, of what explore finds; and what `anyrdma trace` says of them, and of what is none.
set -uo pipefail
. tests/programs/skip.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TEST_UNDECLARED_OUTPUTS_DIR TEST_TOTAL_SHARDS TEST_SHARD_INDEX
anyrdma=$PWD/tools/bin/anyrdma
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# ends STATUS PATTERN COMMAND...: it ends so, and says something like that
ends() {
  local wanted=$1 pattern=$2 status
  shift 2
  "$@" >"$work/said" 2>&1 </dev/null
  status=$?
  [ "$status" = "$wanted" ] || fail "status $status of '$*', expected $wanted: $(head -c 300 "$work/said")"
  [ -z "$pattern" ] || grep -qE -- "$pattern" "$work/said" || fail "'$*' does not say '$pattern': $(head -c 300 "$work/said")"
}

command -v rping >/dev/null || skip_all "rping is not installed"
run() {
  "$anyrdma" sim --host server=10.0.0.1 --host client=10.0.0.2 --on server 'rping -s -a 10.0.0.1 -C 3' \
    --on client 'rping -c -a 10.0.0.1 -C 3 -v' "$@"
}
echo 'on client->server REQ 1: lose' >"$work/plan"

run --seed 7 >"$work/without" 2>&1
grep -q "may not be traced" "$work/without" && skip_all "processes may not be traced here"
run --seed 7 --record "$work/one" >"$work/with" 2>&1 || fail "it fails when recorded: $(cat "$work/with")"
diff "$work/without" "$work/with" || fail "recording changes the run"
run --seed 7 --record "$work/same" >/dev/null 2>&1
run --seed 7 --faults "$work/plan" --record "$work/lost" >/dev/null 2>&1

ends 0 '^passed, seed 7, .* of virtual time, trace hash' "$anyrdma" trace summary "$work/one"
ends 0 'client -> server REQ .*\[client/rping\[[0-9]+\]#1 server/rping\[[0-9]+\]#2\]' "$anyrdma" trace "$work/one"
ends 0 'server/rping ibv_post_send opcode=RDMA_READ .*= 0 \[server#qp0x' "$anyrdma" trace "$work/one" --kind call
ends 0 'completion IBV_WC_RECV IBV_WC_SUCCESS' "$anyrdma" trace "$work/one" --kind completion
ends 0 '^[0-9.]+ client#qp0x[0-9a-f]+ is RTS' "$anyrdma" trace "$work/one" --kind state
ends 0 'client/rping out: .*rdma-ping-0' "$anyrdma" trace "$work/one" --kind note
grep -q 'REQ' "$work/said" && fail "--kind lets others pass"
ends 0 'rdma_connect = 0' "$anyrdma" trace --host client --kind call "$work/one"
grep -q 'rdma_accept' "$work/said" && fail "--host lets others pass"
ends 0 '^\{"anyrdma":1,"clock":"virtual","seed":"7"' "$anyrdma" trace "$work/one" --json
python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$work/said" || fail "not JSON"
ends 0 'ESTABLISHED.*acknowledged 0\.' "$anyrdma" trace "$work/one" --kind event

# What a terminal would obey.
printf 'a\033[31mred \233b \302\233c \342\200\256d\n' >"$work/obeyed"
"$anyrdma" sim --host here=10.0.0.1 --on here "cat $work/obeyed" --record "$work/painted" >/dev/null 2>&1
ends 0 'out: a\\x1b\[31mred \\x9bb \\u009bc \\u202ed$' "$anyrdma" trace "$work/painted"
"$anyrdma" trace "$work/painted" --raw >"$work/said"
grep -qaF "$(cat "$work/obeyed")" "$work/said" || fail "--raw shows something else: $(cat -v "$work/said")"
ends 0 '\\u001b\[31mred .*\\u009bc \\u202ed' "$anyrdma" trace "$work/painted" --json

ends 0 '' "$anyrdma" trace diff "$work/one" "$work/same"
[ -s "$work/said" ] && fail "equal runs differ: $(cat "$work/said")"
ends 1 'REQ.*, lost: lost by a fault' "$anyrdma" trace diff "$work/one" "$work/lost"
ends 0 'REQ from client, lost: lost by a fault' "$anyrdma" trace summary "$work/lost"

# Pages; a recording may be called what a command is called.
cp "$work/lost" "$work/run"
(cd "$work" && ends 0 '' "$anyrdma" trace run --html page.html && exit "$failures") || failures=$((failures + 1))
ends 0 'lost by a fault' cat "$work/page.html"
ends 1 'lost by a fault' "$anyrdma" trace diff "$work/one" "$work/lost" --html "$work/both.html"
[ "$(grep -c '^<html\|<html ' "$work/both.html")" = 1 ] || fail "no page of two runs"
ends 2 "cannot be written" "$anyrdma" trace "$work/one" --html "$work/no/where.html"
ends 2 'Use filters and --json without them' "$anyrdma" trace "$work/one" --html "$work/page.html" --host client

ends 2 "no recording" "$anyrdma" trace "$work/plan"
ends 2 "cannot be read" "$anyrdma" trace "$work/nowhere"
ends 2 "cannot be read" "$anyrdma" trace diff "$work/one" "$work/nowhere"
ends 2 "no host 'nobody'" "$anyrdma" trace "$work/one" --host nobody
ends 2 "no kind 'packet'" "$anyrdma" trace "$work/one" --kind packet
head -c 1000 "$work/one" >"$work/cut"
ends 0 "is truncated" "$anyrdma" trace summary "$work/cut"
{ head -c 8 "$work/one" && printf '\003' && tail -c +10 "$work/one"; } >"$work/newer"
ends 2 "a newer anyrdma wrote it" "$anyrdma" trace "$work/newer"
run --record "$work/nowhere/file" >"$work/said" 2>&1 && fail "it records nowhere"
grep -q 'cannot be written' "$work/said" || fail "it does not say that it cannot be written: $(cat "$work/said")"

# Who hangs is the moment to look at.
"$anyrdma" sim --record "$work/hang" --host here=10.0.0.1 --on here 'rping -s -a 10.0.0.1 -C 1' >/dev/null 2>&1
ends 0 '^hang, ' "$anyrdma" trace summary "$work/hang"
grep -q 'here/rping waits for ' "$work/said" || fail "nobody waits: $(cat "$work/said")"
grep -q '^waits that never ended' "$work/said" || fail "its wait ends: $(cat "$work/said")"

# Who dies of a signal has crashed, then and there, unless that was expected.
"$anyrdma" sim --record "$work/crash" --host here=10.0.0.1 --on here 'sh -c "sleep 1; kill -SEGV \$\$"' --on here 'sleep 5' >/dev/null 2>&1
ends 0 '^crash, ' "$anyrdma" trace summary "$work/crash"
grep -qE '^  1\.[0-9]+ s: here/sh was ended by signal 11$' "$work/said" || fail "the moment is another: $(cat "$work/said")"
printf 'host here 10.0.0.1\non here sh -c "kill -KILL \$\$"\nexpect here/sh any end\n' >"$work/expected"
"$anyrdma" sim --record "$work/end" "$work/expected" >"$work/said" 2>&1
ends 0 '^passed, ' "$anyrdma" trace summary "$work/end"

# What explore finds is recorded by itself.
cat >"$work/scenario" <<'SCENARIO'
host server 10.0.0.1
host client 10.0.0.2
on server rping -s -a 10.0.0.1 -C 3
on client rping -c -a 10.0.0.1 -C 3
menu on client->server REQ all: lose
SCENARIO
ends 1 "the failing run is recorded in '$work/scenario\.[0-9]+\.[0-9a-f]+\.recording'" \
  "$anyrdma" explore "$work/scenario" --seeds 6 --jobs 1 --record "$work"
ends 0 '^  server/rping for a futex since' "$anyrdma" trace summary "$work"/scenario.*.recording
ends 0 '^reproduce: anyrdma replay' "$anyrdma" trace summary "$work"/scenario.*.recording

# Two explorations at once leave a recording each, of the run that each reports.
printf 'host a 10.0.0.1\non a sh -c "exit 3"\n' >"$work/fails"
mkdir "$work/both"
for first in 1 500; do
  "$anyrdma" explore "$work/fails" --first-seed "$first" --seeds 3 --jobs 1 --record "$work/both" >/dev/null 2>&1 &
done
wait
for first in 1 500; do
  ends 0 "^failed, seed $first," "$anyrdma" trace summary "$work/both/fails.$first".*.recording
done
[ "$(find "$work/both" -type f | wc -l)" = 2 ] || fail "other files are left: $(ls "$work/both")"

exit $((failures != 0))
