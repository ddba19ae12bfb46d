#!/usr/bin/env bash
# What CI systems get of sim and explore: a JUnit file, read here by Python's parser, and GitHub's summary.
. tests/simulated/lib.sh

unset GITHUB_STEP_SUMMARY
fails=(--host here=10.0.0.1 --on here "sh -c 'echo \"<b>&\"; exit 3'")

# The shape that CI systems read: https://github.com/testmoapp/junitxml
cat >"$work/read.py" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites", root.tag
suites = root.findall("testsuite")
assert suites and len(suites) == len(root)
cases = [case for suite in suites for case in suite.findall("testcase")]
failures = [failure for case in cases for failure in case.findall("failure")]
for element, tests, failed in [(root, len(cases), len(failures))] + [
        (suite, len(suite.findall("testcase")), len(suite.findall("testcase/failure"))) for suite in suites]:
    assert int(element.get("tests")) == tests and int(element.get("failures")) == failed, element.attrib
    assert element.get("errors") == "0" and float(element.get("time")) >= 0 and element.get("name")
for case in cases:
    assert case.get("classname") and case.get("name") and float(case.get("time")) >= 0, case.attrib
print(len(cases), len(failures))
for failure in failures:
    print(failure.get("message"))
    print(failure.text)
PYTHON
read_junit() { python3 "$work/read.py" "$1" >"$work/read" || fail "no JUnit: $(cat "$1")"; }

case_a_run_that_fails() {
  tools/bin/anyrdma sim "${fails[@]}" --junit "$work/sim.xml" >/dev/null 2>&1
  [ $? = 1 ] || fail "exit status $?"
  read_junit "$work/sim.xml"
  [ "$(head -n 2 "$work/read")" = $'1 1\nhere/sh ended with status 3' ] || fail "$(cat "$work/read")"
  grep '^again: anyrdma sim --host here=10.0.0.1' "$work/read" >/dev/null || fail "no command repeats it"
  grep '^debug: anyrdma sim .* --gdb --goto failure' "$work/read" >/dev/null || fail "no command debugs it"
}

case_a_run_that_succeeds() {
  tools/bin/anyrdma sim --host here=10.0.0.1 --on here true --junit "$work/well.xml" >/dev/null 2>&1 || fail "it fails"
  read_junit "$work/well.xml"
  [ "$(cat "$work/read")" = '1 0' ] || fail "$(cat "$work/read")"
}

case_a_search() {
  printf 'host here 10.0.0.1\non here sh -c "exit 3"\n' >"$work/fails.txt"
  tools/bin/anyrdma explore "$work/fails.txt" --seeds 2 --record "$work" --junit "$work/explore.xml" >"$work/explored" 2>&1
  read_junit "$work/explore.xml"
  [ "$(head -n 2 "$work/read")" = $'1 1\nhere/sh ended with status 3' ] || fail "$(cat "$work/read")"
  local recording
  recording=$(sed -n 's/^recording: //p' "$work/read")
  tools/bin/anyrdma trace summary "$recording" >/dev/null || fail "the recording is not where the report says"
  printf 'host here 10.0.0.1\non here true\n' >"$work/well.txt"
  tools/bin/anyrdma explore "$work/well.txt" --seeds 2 --junit "$work/explore.xml" >/dev/null 2>&1 || fail "it fails"
  read_junit "$work/explore.xml"
  [ "$(cat "$work/read")" = '1 0' ] || fail "$(cat "$work/read")"
}

case_a_replay() {
  printf 'host here 10.0.0.1\non here sh -c "exit 3"\n' >"$work/fails.txt"
  tools/bin/anyrdma replay "$work/fails.txt" 'seed 7' --junit "$work/replay.xml" >/dev/null 2>&1
  [ $? = 1 ] || fail "exit status $?"
  read_junit "$work/replay.xml"
  [ "$(head -n 2 "$work/read")" = $'1 1\nhere/sh ended with status 3' ] || fail "$(cat "$work/read")"
  grep "^again: anyrdma replay $work/fails.txt 'seed 7'" "$work/read" >/dev/null || fail "no command repeats it"
  tools/bin/anyrdma replay connect 'seed 7' --junit "$work/replay.xml" >/dev/null 2>&1 || fail "it fails"
  read_junit "$work/replay.xml"
  [ "$(cat "$work/read")" = '1 0' ] || fail "$(cat "$work/read")"
}

case_merged_results() {
  printf 'host here 10.0.0.1\non here sh -c "exit 3"\n' >"$work/fails.txt"
  local shard
  for shard in 0/2 1/2; do
    tools/bin/anyrdma explore "$work/fails.txt" --seeds 4 --keep-going --shard $shard --results "$work/results" \
      --record "$work" >/dev/null 2>&1
  done
  tools/bin/anyrdma merge "$work/results" --junit "$work/merge.xml" >"$work/said" 2>&1
  [ $? = 1 ] || fail "exit status $?: $(cat "$work/said")"
  read_junit "$work/merge.xml"
  [ "$(head -n 2 "$work/read")" = $'1 1\nhere/sh ended with status 3' ] || fail "$(cat "$work/read")"
  grep "^again: anyrdma replay $work/fails.txt" "$work/read" >/dev/null || fail "no command repeats it"
}

case_a_summary_for_github() {
  echo 'a summary' >"$work/summary.md"
  GITHUB_STEP_SUMMARY=$work/summary.md tools/bin/anyrdma sim "${fails[@]}" --record "$work/recording" >/dev/null 2>&1
  local each
  for each in '^a summary$' '^## .* anyrdma sim `programs`: failed' '^here/sh ended with status 3' '^anyrdma sim --host' \
    '--gdb --goto failure$' "^anyrdma trace $work/recording --html page.html"; do
    grep -e "$each" "$work/summary.md" >/dev/null || fail "the summary lacks '$each': $(cat "$work/summary.md")"
  done
  GITHUB_STEP_SUMMARY=/nowhere/summary tools/bin/anyrdma sim --host here=10.0.0.1 --on here true >"$work/said" 2>&1 ||
    fail "a run fails because of its summary"
  grep "'/nowhere/summary', which GITHUB_STEP_SUMMARY names, cannot be written" "$work/said" >/dev/null || fail "$(cat "$work/said")"
}

case_a_file_that_cannot_be_written() {
  local command words
  printf 'host here 10.0.0.1\non here true\n' >"$work/well.txt"
  for command in "sim|$work/well.txt" "explore|$work/well.txt" "replay|$work/well.txt|seed 1" "merge|$work"; do
    IFS='|' read -ra words <<<"$command"
    tools/bin/anyrdma "${words[@]}" --junit /nowhere/report.xml >"$work/said" 2>&1
    [ $? = 2 ] || fail "$command: exit status $?"
    grep -- "--junit '/nowhere/report.xml' cannot be written: No such file" "$work/said" >/dev/null || fail "$(cat "$work/said")"
  done
}

run_cases
