#!/usr/bin/env bash
# A program of the tests' own with all that programs have (mixed.cc), and a race in it that only some orders show.
. tests/simulated/lib.sh

mixed=$PWD/tests/simulated/mixed

says='20 answers, 0 wrong'
apart "eight threads, epoll, timerfd, conditions, TCP, polled memory" "$mixed server 10.0.0.1 20" \
  "$mixed client 10.0.0.1 20"

# scenario COUNT [race]
scenario() {
  printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' 'limit 10s' \
    "on server $mixed server 10.0.0.1 $*" "on client $mixed client 10.0.0.1 $1" >"$work/scenario"
}

explored() { # STATUS OPTION...
  local wanted=$1 status
  shift
  # It polls two words of one WRITE, which weak memory may show one by one.
  timeout -k 5 1200 tools/bin/anyrdma explore "$work/scenario" --memory strict "$@" >"$work/found" 2>&1 </dev/null
  status=$?
  [ "$status" = "$wanted" ] || fail "exploring ends with $status, not $wanted: $(head -n 5 "$work/found")"
}

case_a_race_is_found_by_pct_and_replayed() {
  local again
  scenario 4 race
  explored 1 --schedule pct --seeds 200
  grep -q '^server/mixed ended with status 3$' "$work/found" || fail "not the race: $(head -n 5 "$work/found")"
  again=$(sed -n 's/^again: anyrdma/tools\/bin\/anyrdma/p' "$work/found" | tail -n 1)
  [ -n "$again" ] || fail "no command to have it again"
  for run in first second; do
    timeout -k 5 300 bash -c "$again" >"$work/$run.log" 2>&1 </dev/null
    [ $? = 1 ] || fail "the $run replay does well: $again"
  done
  grep -q 'announced 2 times' "$work/first.log" || fail "the replay does not show it: $(cat "$work/first.log")"
  cmp -s "$work/first.log" "$work/second.log" || fail "two replays differ"
}

case_a_recording_changes_no_order() {
  local trial='seed 3; schedule/2 pct 3 2000; slack 100us' plain recorded
  scenario 4
  plain=$(timeout -k 5 300 tools/bin/anyrdma replay "$work/scenario" "$trial" 2>&1 </dev/null | grep -o 'trace hash .*')
  recorded=$(timeout -k 5 300 tools/bin/anyrdma replay "$work/scenario" --record "$work/run" "$trial" 2>&1 </dev/null |
    grep -o 'trace hash .*')
  [ -n "$plain" ] && [ "$plain" = "$recorded" ] || fail "'$plain' is '$recorded' when it is recorded"
}

case_in_the_order_in_which_things_are_ready_it_does_not_show() {
  scenario 4 race
  explored 0 --schedule fifo --seeds 5
}

case_without_the_race_no_order_shows_it() {
  scenario 4
  explored 0 --seeds 30
}

run_cases
