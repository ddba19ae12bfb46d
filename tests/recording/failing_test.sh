#!/usr/bin/env bash
# What a failing test leaves, that has asked for nothing: its recording, its page, and the command that has it again.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failing=$PWD/tests/recording/failing
anyrdma=$PWD/tools/anyrdma
unset TEST_UNDECLARED_OUTPUTS_DIR TEST_TARGET TEST_TOTAL_SHARDS TEST_SHARD_INDEX ANYRDMA_SEED ANYRDMA_RUNS ANYRDMA_RECORD \
  ANYRDMA_TRIAL TESTBRIDGE_TEST_ONLY XML_OUTPUT_FILE GTEST_OUTPUT
export TEST_TMPDIR=$work/usual
mkdir "$TEST_TMPDIR"
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
runs() { "$failing" --gtest_filter="$1" "${@:2}" >"$work/said" 2>&1; }
says() { grep -qE -- "$1" "$work/said" || fail "it does not say '$1': $(cat "$work/said")"; }
shows() { # NAME PATTERN: what `anyrdma trace` says of its recording
  "$anyrdma" trace summary "$TEST_TMPDIR/$1.recording" >"$work/summary" 2>&1 || fail "no summary: $(cat "$work/summary")"
  grep -qE -- "$2" "$work/summary" || fail "the summary of $1 does not say '$2': $(cat "$work/summary")"
}

runs Bare.Passes || fail "it should pass"
[ -z "$(ls "$TEST_TMPDIR")" ] || fail "a test that passes leaves $(ls "$TEST_TMPDIR")"

runs Bare.ExpectsTooMuchWhileItRuns && fail "it should fail"
says "^its recording, for .anyrdma trace.: $TEST_TMPDIR/+Bare.ExpectsTooMuchWhileItRuns.recording$"
says "^its page, for a browser: $TEST_TMPDIR/+Bare.ExpectsTooMuchWhileItRuns.html$"
shows Bare.ExpectsTooMuchWhileItRuns '^failed, seed 3, '
shows Bare.ExpectsTooMuchWhileItRuns 'clerk/late at tests/recording/failing.cc:[0-9]+: Expected equality of these values: run.read\(\) Which is: "to be read" "something else"'
grep -q 'something else' "$TEST_TMPDIR/Bare.ExpectsTooMuchWhileItRuns.html" || fail "the page does not have what was expected"
"$anyrdma" trace "$TEST_TMPDIR/Bare.ExpectsTooMuchWhileItRuns.recording" --kind finding >"$work/finding"
grep -q '0\.005' "$work/finding" || fail "it is not found when it happens: $(cat "$work/finding")"

runs Bare.LooksWhenItsWorldHasEnded && fail "it should fail"
shows Bare.LooksWhenItsWorldHasEnded 'seed 2, ' # the last one
runs Bare.PlansWhatDoesNotHappen && fail "it should fail"
shows Bare.PlansWhatDoesNotHappen 'planned faults did not happen'
runs Bare.Hangs && fail "it should fail"
shows Bare.Hangs '^hang, '
runs 'Some/Each.*' && fail "it should fail"
says '/Some_Each.Fails_0.recording$'
shows Some_Each.Fails_0 '^failed, seed 7, '

TEST_UNDECLARED_OUTPUTS_DIR=$work runs Bare.Hangs && fail "it should fail"
says "^its page, for a browser: $work/Bare.Hangs.html$"

# What explore finds is had again in that test alone.
runs Bare.Explores && fail "it should fail"
says "ANYRDMA_TRIAL='seed 2' .*failing --gtest_filter='Bare.Explores'"
ls "$TEST_TMPDIR" | grep -q Explores && fail "explored worlds are recorded"
bash -c "$(sed -n 's/^again: //p' "$work/said" | head -n 1)" >"$work/said" 2>&1 && fail "it should fail again"
says '^the second one'
says '1 test from 1 test suite'

runs Bare.Passes --anyrdma_record="$work" || fail "it should pass"
says "^its recording, for .anyrdma trace.: $work/Bare.Passes.recording$"
[ -s "$work/Bare.Passes.html" ] || fail "there is no page"

exit $((failures != 0))
