#!/bin/bash
# `anyrdma explain` names the race of ten programs of tests/finds, and the fault of five.
set -euo pipefail
shards=${TEST_TOTAL_SHARDS:-1} shard=${TEST_SHARD_INDEX:-0}
[ -z "${TEST_SHARD_STATUS_FILE:-}" ] || touch "$TEST_SHARD_STATUS_FILE"
unset TEST_TOTAL_SHARDS TEST_SHARD_INDEX

finds=tests/finds
anyrdma=$PWD/tools/bin/anyrdma
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "explain_test: $*"
  exit 1
}

# The last shard has no programs.
programs=$((shards - 1))
if [ "$shard" -lt "$programs" ] || [ "$programs" = 0 ]; then
  python3 $finds/explain.py "$anyrdma" $finds $finds --shard "$shard/$((programs > 0 ? programs : 1))" \
    --search 600s --budget 600s
  [ "$programs" = 0 ] || exit 0
fi

# What does not fail is not explained, and a report is the same again.
cd $finds/teardown
status=0
"$anyrdma" explain double_disconnect.fixed.txt 'seed 5' >"$work/passes" 2>&1 || status=$?
[ $status = 1 ] || fail "a trial that passes has status $status"
grep 'The trial does not fail' "$work/passes" >/dev/null || fail "$(cat "$work/passes")"
"$anyrdma" explore double_disconnect.buggy.txt --faults none --record "$work" >"$work/found" 2>&1 || true
trial=$(sed -n "s/^again: anyrdma replay double_disconnect.buggy.txt '\(.*\)'$/\1/p" "$work/found" | tail -n 1)
[ -n "$trial" ] || fail "no failure is found: $(cat "$work/found")"
explain() {
  local jobs=$1
  shift
  "$anyrdma" explain double_disconnect.buggy.txt "$trial" --jobs "$jobs" --budget 600s "$@" >"$work/$jobs" 2>&1 ||
    fail "it is not explained: $(cat "$work/$jobs")"
}
explain 1
explain 3 --html "$work/page.html"
cmp "$work/1" "$work/3" || fail "two reports of one trial differ"
grep '"explanation":{"trial":' "$work/page.html" >/dev/null || fail "the page has no explanation"
for part in 'The trial fails like this:' 'The nearest passing trial' 'The critical pair, at ' \
  'How likely the failure is' 'The first difference'; do
  grep "^$part" "$work/1" >/dev/null || fail "the report lacks '$part'"
done

# Both orders of each pair are trials that replay runs.
mapfile -t fails < <(sed -n "/the first step before/{n;s/.*txt '\(.*\)'$/\1/p}" "$work/1")
mapfile -t passes < <(sed -n "/the second step before/{n;s/.*txt '\(.*\)'$/\1/p}" "$work/1")
[ "${#fails[@]}" = 2 ] && [ "${#passes[@]}" = 2 ] || fail "the pair and its other end are not there: $(cat "$work/1")"
for i in 0 1; do
  status=0
  "$anyrdma" replay double_disconnect.buggy.txt "${fails[i]}" >"$work/replay" 2>&1 || status=$?
  [ $status = 1 ] || fail "the failing order has status $status: ${fails[i]}"
  "$anyrdma" replay double_disconnect.buggy.txt "${passes[i]}" >"$work/replay" 2>&1 ||
    fail "the passing order fails: ${passes[i]}"
done

# Bad input.
refused() {
  local text=$1 status=0
  shift
  "$anyrdma" explain "$@" >"$work/refused" 2>&1 || status=$?
  [ $status = 2 ] || fail "explain $* has status $status"
  grep -e "$text" "$work/refused" >/dev/null || fail "explain $* says: $(cat "$work/refused")"
}
refused 'TRIAL is required' double_disconnect.buggy.txt
refused 'nowhere.txt' nowhere.txt 'seed 1'
refused 'the trial is invalid' double_disconnect.buggy.txt 'sed 1'
refused 'needs a scenario file' connect 'seed 1'
refused "'/nowhere/page.html' cannot be written" double_disconnect.buggy.txt 'seed 1' --html /nowhere/page.html
refused "is no time" double_disconnect.buggy.txt 'seed 1' --budget soon
refused 'loose' double_disconnect.buggy.txt 'seed 1' --memory loose
refused 'does not belong to this scenario' double_disconnect.buggy.txt 'seed 1 until 1000000; seed 2'
