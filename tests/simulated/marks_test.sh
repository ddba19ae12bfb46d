#!/usr/bin/env bash
# Marks in a program's own code, and scheduling points at its blocks (marked.c).
. tests/simulated/lib.sh

marked=$PWD/tests/simulated/marked

scenario() { # [ARGUMENT]
  printf '%s\n' 'host one 10.0.0.1' 'limit 10s' "on one $marked $*" >"$work/scenario"
}

explored() { # STATUS OPTION...
  local wanted=$1 status
  shift
  timeout -k 5 1200 tools/bin/anyrdma explore "$work/scenario" --jobs 1 "$@" >"$work/found" 2>&1 </dev/null
  status=$?
  [ "$status" = "$wanted" ] || fail "exploring ends with $status, not $wanted: $(cat "$work/found")"
}

case_outside_of_the_simulator_marks_do_nothing() {
  [ "$("$marked")" = "sum 2" ] || fail "it says $("$marked")"
}

case_a_lost_addition_of_plain_stores_is_found_and_named_by_its_mark() {
  scenario
  explored 1 --schedule pct --seeds 300
  grep -q '"both additions count" does not hold at ' "$work/found" || fail "not the mark: $(cat "$work/found")"
}

case_an_atomic_addition_is_never_lost() {
  scenario atomic
  explored 0 --schedule pct --seeds 100
}

case_a_report_says_how_often_each_situation_was_there() {
  scenario atomic
  explored 0 --seeds 5
  grep -qE '^in 5 of 5 runs: an argument is given$' "$work/found" || fail "no count: $(cat "$work/found")"
  grep -qE '^in 0 of 5 runs: ten arguments are given$' "$work/found" || fail "no zero: $(cat "$work/found")"
}

case_a_situation_that_never_was_fails_where_it_must_be_seen() {
  scenario atomic
  explored 1 --seeds 5 --must-see
}

case_a_mark_that_does_not_hold_fails_its_replay() {
  local status again
  scenario
  explored 1 --schedule pct --seeds 300
  again=$(sed -n "s/^again: anyrdma/tools\/bin\/anyrdma/p" "$work/found" | head -n 1)
  timeout -k 5 300 bash -c "$again" >"$work/again" 2>&1
  status=$?
  [ "$status" = 1 ] && grep -q '"both additions count" does not hold' "$work/again" ||
    fail "the replay ends with $status: $(cat "$work/again")"
}

run_cases
