#!/usr/bin/env bash
# Ctrl-C: what has been found by then is said, the programs are gone, and the status is that of the signal. A second
# one ends at once, and leaves no process behind either.
. tests/simulated/lib.sh

export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# launch OPTION...: in the background and a process group of its own, as a terminal's foreground has; sets $pid.
launch() {
  # Whoever is started in the background of a script would ignore SIGINT.
  setsid env --default-signal=INT tools/bin/anyrdma "$@" >"$work/out" 2>"$work/err" </dev/null &
  pid=$!
}

until_true() { # WHAT COMMAND...
  local what=$1
  shift
  timeout "$deadline" bash -c 'until "$@" >/dev/null; do sleep 0.05; done' _ "$@" || fail "$what"
}

ended() { # STATUS
  local status
  timeout "$deadline" tail --pid="$pid" -s 0.05 -f /dev/null || { fail "it did not end" && kill -9 "$pid"; }
  wait "$pid" 2>/dev/null
  status=$?
  [ "$status" = "$1" ] || fail "exit status $status, expected $1: $(tail -n 5 "$work/err")"
}

# Each test's programs have its directory in their command line.
nobody_is_left() {
  until_true "programs are left: $(pgrep -af "[m]ark=$work")" bash -c "! pgrep -f '[m]ark=$work' >/dev/null"
}

no_file_is_left() {
  [ -z "$(ls "$TMPDIR")" ] || fail "files are left: $(ls "$TMPDIR")"
}

says() { # FILE PATTERN
  grep -qE -- "$2" "$work/$1" || fail "$1 does not say '$2': $(tail -n 9 "$work/$1")"
}

spin="sh -c 'while :; do :; done; exit' mark=$work"
loop="sh -c 'while :; do sleep 1; done; exit' mark=$work"

case_sim_says_who_was_where_and_kills_its_programs() {
  local program signal
  for signal in INT TERM HUP; do
    for program in "$spin" "$loop"; do
      launch sim --host one=10.0.0.1 --on one "$program" --on one "$loop"
      until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
      kill -"$signal" -- -"$pid" # all of the foreground gets it
      ended "$((128 + $(kill -l "$signal")))"
      says err '^anyrdma: interrupted at [0-9.]* s, and these wait:$'
      says err '^  one/sh$'
      says out '^one/sh did not end$'
      nobody_is_left
      no_file_is_left
    done
  done
}

case_explore_reports_what_it_has_found() {
  launch explore connect --seeds 1000000000 --jobs 2 --shard 0/1 --results "$work/results"
  until_true 'it does not begin' pgrep -P "$pid"
  kill -INT -- -"$pid"
  ended 130
  says out '^connect: [0-9]+ runs.* s, interrupted$'
  says results/connect.0-of-1.results '^ended interrupted$'
  tools/bin/anyrdma merge "$work/results" 2>"$work/refused" >&2 && fail "an interrupted shard is taken for a whole"
  says refused 'was interrupted after [0-9]* runs\. Run it again, or say --partial'
}

scenario() { # PROGRAM [LINE...]
  printf '%s\n' 'host one 10.0.0.1' "on one $1" "${@:2}" >"$work/scenario"
}

# Whatever its programs wait for in the kernel.
case_programs_that_block_in_a_call_are_no_obstacle() {
  local blocked signal
  mkfifo "$work/fifo"
  for blocked in "tests/simulated/blocking mq_receive-for-ever mark=$work" "cat $work/fifo mark=$work"; do
    scenario "$blocked" "on one $loop"
    for signal in INT TERM; do
      launch sim "$work/scenario"
      until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
      kill -"$signal" -- -"$pid"
      ended "$((128 + $(kill -l "$signal")))"
      says err '^anyrdma: interrupted at [0-9.]* s, and these wait:$'
      nobody_is_left
      no_file_is_left
      launch explore "$work/scenario" --seeds 1000000000 --jobs 2
      until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
      kill -"$signal" -- -"$pid"
      ended "$((128 + $(kill -l "$signal")))"
      says out ' runs.* in .* s, interrupted$'
      nobody_is_left
      no_file_is_left
    done
  done
}

# Which explore makes itself, before it has jobs: to see how long it is, and what can be drawn.
case_a_run_without_faults_that_never_ends_is_interrupted() {
  scenario "$loop" 'menu standard'
  launch explore "$work/scenario" --seeds 1000000000 --jobs 2
  until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
  kill -TERM -- -"$pid"
  ended 143
  says out ': 0 runs.* in .* s, interrupted$'
  nobody_is_left
  no_file_is_left
}

case_what_a_killed_run_leaves_the_next_one_removes() {
  launch sim --host one=10.0.0.1 --on one "$loop"
  until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
  kill -KILL "$pid"
  ended 137
  nobody_is_left
  [ -n "$(ls "$TMPDIR")" ] || fail 'a killed run leaves nothing: this shows nothing'
  tools/bin/anyrdma sim --host one=10.0.0.1 --on one true >/dev/null || fail 'the next run fails'
  no_file_is_left
}

case_what_a_killed_verify_leaves_the_next_one_removes() {
  scenario true "verify sh -c 'while :; do sleep 1; done; exit' mark=$work"
  launch sim "$work/scenario"
  until_true 'no command begins' pgrep -f "sh .*[m]ark=$work"
  kill -KILL "$pid"
  ended 137
  nobody_is_left
  [ -n "$(ls "$TMPDIR")" ] || fail 'a killed run leaves nothing: this shows nothing'
  scenario true 'verify true'
  tools/bin/anyrdma sim "$work/scenario" >/dev/null || fail 'the next run fails'
  no_file_is_left
}

case_what_a_killed_check_leaves_the_next_one_removes() {
  launch run --check -- sh -c 'while :; do sleep 1; done; exit' "mark=$work"
  until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
  kill -KILL "$pid"
  ended 137
  [ -n "$(ls "$TMPDIR")" ] || fail 'a killed run leaves nothing: this shows nothing'
  tools/bin/anyrdma run --check -- true 2>/dev/null || fail 'the next run fails'
  no_file_is_left
}

case_a_budget_is_for_all_scenarios_together() {
  local begin=$SECONDS
  tools/bin/anyrdma explore all --budget 4s --jobs 1 >"$work/out" 2>"$work/err" || fail "it fails: $(tail -n 5 "$work/err")"
  [ "$(grep -c ', then the budget was used up$' "$work/out")" -ge 6 ] || fail "not all have a part: $(cat "$work/out")"
  [ "$((SECONDS - begin))" -lt 20 ] || fail "it takes $((SECONDS - begin)) s" # of six that have 4 s each, 24
}

# What the signal did to programs is nobody's failure.
case_explore_of_programs_ends_after_the_run() {
  local signal
  scenario "sh -c 'sleep 1; exit' mark=$work"
  for signal in INT TERM; do
    launch explore "$work/scenario" --seeds 1000000000 --jobs 2 --keep-going
    until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
    # To all, as some engines do that end a job.
    # shellcheck disable=SC2046 # many
    kill -"$signal" $(pgrep -s "$pid") 2>/dev/null
    ended "$((128 + $(kill -l "$signal")))"
    says out ' runs in .* s, interrupted$'
    ! grep 'went wrong' "$work/out" || fail "a failure is said where there is none"
    nobody_is_left
    no_file_is_left
  done
}

case_a_second_signal_ends_it_at_once() {
  scenario "$spin"
  launch explore "$work/scenario" --seeds 10 --jobs 2
  until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
  until_true 'it goes on' bash -c "! kill -TERM $pid 2>/dev/null"
  ended 143
  nobody_is_left
  launch sim --host one=10.0.0.1 --on one "$spin"
  until_true 'no program begins' pgrep -f "^sh .*[m]ark=$work"
  until_true 'it goes on' bash -c "! kill -INT $pid 2>/dev/null"
  ended 130
  nobody_is_left
}

case_a_terminal_is_told_how_far_it_is() {
  script -qec 'tools/bin/anyrdma explore connect --seeds 300 --shard 0/1' "$work/terminal" >/dev/null </dev/null
  says terminal '[0-9]+ of 300 runs, [0-9.]+/s, .*0 failures'
  says terminal 'connect: 300 runs'
}

run_cases
