#!/usr/bin/env bash
# When programs print: each line of standard output has the virtual time at which it was printed.
. tests/simulated/lib.sh

install -m 755 tests/simulated/printing "$work/printing"
one=(--host here=10.0.0.1 --on here "$work/printing")

sim() { timeout -k 5 "$deadline" tools/bin/anyrdma sim "$@" 2>&1 </dev/null; }

# times FILE: of the lines that the program printed, in milliseconds
times() { sed -n 's/^0\.\(...\)[0-9]* here\/printing: .*/\1/p' "$1" | tr '\n' ' '; }

case_each_line_has_its_own_time() {
  sim "${one[@]}" --record "$work/recording" >"$work/plain"
  [ "$(times "$work/plain")" = '000 001 002 003 ' ] || fail "the times: $(cat "$work/plain")"
  tools/bin/anyrdma trace "$work/recording" >"$work/trace"
  local i
  for i in 1 2 3; do
    grep "^0\.00$((i - 1))[0-9]* here/printing out: lines $i" "$work/trace" >/dev/null || fail "line $i: $(cat "$work/trace")"
  done
  tools/bin/anyrdma trace "$work/recording" --json | grep '"t":1[0-9]*,.*lines 2' >/dev/null || fail "the page has another time"
}

case_lines_of_hosts_are_in_the_order_of_time() {
  sim --host here=10.0.0.1 --host there=10.0.0.2 --on here "$work/printing" --on there "$work/printing" >"$work/both"
  grep -c 'there/printing: ' "$work/both" | grep '^4$' >/dev/null || fail "$(cat "$work/both")"
  grep '/printing: ' "$work/both" | sort -c || fail "the lines are not in the order of time"
}

case_buffered_keeps_the_lines_until_the_end() {
  sim "${one[@]}" --buffered >"$work/buffered"
  [ "$(times "$work/buffered")" = '003 003 003 003 ' ] || fail "$(cat "$work/buffered")"
  printf 'host here 10.0.0.1\non here %s\n' "$work/printing" >"$work/scenario"
  tools/bin/anyrdma replay "$work/scenario" 'seed 1' --buffered >"$work/buffered" 2>&1
  [ "$(times "$work/buffered")" = '003 003 003 003 ' ] || fail "replay: $(cat "$work/buffered")"
}

case_a_program_may_set_its_own_buffer() {
  sim --host here=10.0.0.1 --on here "$work/printing own" >"$work/own"
  [ "$(times "$work/own")" = '003 003 003 003 ' ] || fail "$(cat "$work/own")"
}

case_children_print_in_lines_too() {
  sim --host here=10.0.0.1 --on here "sh -c '$work/printing; echo end'" >"$work/child"
  grep '^0\.001[0-9]* here/sh: lines 2' "$work/child" >/dev/null || fail "$(cat "$work/child")"
}

# What no other program sees changes nothing else in the run.
case_the_run_is_the_same_but_for_the_times() {
  local trial='seed 3; schedule/2 random; slack 10us'
  printf 'host a 10.0.0.1\nhost b 10.0.0.2\non a %s\non b %s\n' "$work/printing" "$work/printing" >"$work/scenario"
  tools/bin/anyrdma replay "$work/scenario" "$trial" --record "$work/lines" >"$work/one" 2>&1
  tools/bin/anyrdma replay "$work/scenario" "$trial" --record "$work/blocks" --buffered >"$work/other" 2>&1
  for each in lines blocks; do tools/bin/anyrdma trace "$work/$each" --kind wait >"$work/$each.waits"; done
  [ -s "$work/lines.waits" ] || fail "nothing waits"
  cmp "$work/lines.waits" "$work/blocks.waits" || fail "the waits differ"
}

case_files_have_times_on_request() {
  sim "${one[@]}" --output "$work/files" --times >/dev/null
  grep '^0\.001[0-9]* lines 2$' "$work/files/here.printing.out" >/dev/null || fail "$(cat "$work/files/here.printing.out")"
  sim "${one[@]}" --output "$work/files" >/dev/null
  [ "$(sed -n 2p "$work/files/here.printing.out")" = 'lines 2' ] || fail "times without --times"
  sim "${one[@]}" --times >"$work/usage"
  [ $? = 2 ] || fail "--times without --output is not refused"
  grep -- '--times needs --output' "$work/usage" >/dev/null || fail "$(cat "$work/usage")"
}

# Who only prints does not keep others from going on.
case_a_program_that_prints_for_ever_lets_time_pass() {
  sim --host here=10.0.0.1 --on here 'yes no' --limit 10us >"$work/yes"
  [ $? = 1 ] || fail "exit status $?"
  grep 'the limit of virtual time is reached' "$work/yes" >/dev/null || fail "$(tail -n 3 "$work/yes")"
}

# Bash reads a byte at a time: the pipe is full, and the command waits.
case_a_slow_reader_gets_every_line() {
  sim --host here=10.0.0.1 --on here 'seq 20000' |
    { lines=0 && while read -r _; do lines=$((lines + 1)); done; [ "$lines" = 20002 ]; } || fail "lines are missing, or too many"
}

run_cases
