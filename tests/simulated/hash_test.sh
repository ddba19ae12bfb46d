#!/usr/bin/env bash
# The hash of a run: two runs have the same one if nothing that happened differs. `trace diff` says what does.
. tests/simulated/lib.sh

# hash OPTION...: of a run with these options; what it records is in $recording if that is set
hash() {
  timeout -k 5 "$deadline" tools/bin/anyrdma "${command:-sim}" ${recording:+--record "$recording"} "$@" 2>&1 </dev/null |
    grep -o 'trace hash [0-9a-fx]*$' | sed 's/.*hash \(0x\)\?//'
}
sh_here() { hash --host here=10.0.0.1 --on here "$@"; }

differ() { # WHAT HASH HASH
  [ -n "$2" ] && [ "$2" != 0000000000000000 ] || fail "there is no hash"
  [ "$2" != "$3" ] || fail "it does not cover $1"
}
parts() { # PATTERN FILE FILE: trace diff says that
  tools/bin/anyrdma trace diff "$2" "$3" >"$work/diff"
  [ $? = 1 ] || fail "diff does not end with 1"
  grep -qE -- "$1" "$work/diff" || { fail "diff does not say '$1'" && head -n 12 "$work/diff" | sed 's/^/      /'; }
}

case_output() {
  local one other
  one=$(recording=$work/one sh_here 'sh -c "echo one"')
  other=$(recording=$work/other sh_here 'sh -c "echo other"')
  differ "what programs print" "$one" "$other"
  parts 'the name differs: one and other' "$work/one" "$work/other"
  differ "whether it goes to stderr" "$one" "$(sh_here 'sh -c "echo one >&2"')"
  [ "$one" = "$(sh_here 'sh -c "echo one"')" ] || fail "a recording changes it"
}

case_ends() {
  local one other
  one=$(recording=$work/one sh_here true)
  other=$(recording=$work/other sh_here 'sh -c "exit 0"')
  differ "which program it was" "$one" "$other"
  one=$(recording=$work/one sh_here 'sh -c "exit 1"')
  differ "how programs end" "$one" "$other"
  parts 'the name differs: ended with status 1 and ended with status 0' "$work/one" "$work/other"
  differ "signals" "$other" "$(sh_here 'sh -c "kill -9 \$\$"')"
}

# Two that say nothing, in another order.
case_schedule() {
  local one other
  printf 'host here 10.0.0.1\non here sh -c "sleep 1; sleep 1"\non here sh -c "sleep 1; sleep 1"\n' >"$work/scenario"
  one=$(command=replay recording=$work/one hash "$work/scenario" 'seed 1; schedule/2 random; slack 10ms')
  other=$(command=replay recording=$work/other hash "$work/scenario" 'seed 2; schedule/2 random; slack 10ms')
  differ "the schedule" "$one" "$other"
  tools/bin/anyrdma trace diff "$work/one" "$work/other" >/dev/null
  [ $? = 1 ] || fail "no difference is found"
  # Not -q: it would end before trace has written all, which is then a failure of the pipe.
  tools/bin/anyrdma trace "$work/one" --kind choice | grep 'goes on first, choice [0-9]*:[0-9]*' >/dev/null ||
    fail "no choice is recorded"
  [ "$one" = "$(command=replay hash "$work/scenario" 'seed 1; schedule/2 random; slack 10ms')" ] ||
    fail "a recording changes it"
}

case_recorded_rping() {
  [ -z "$(missing rping)" ] || { echo '    skipped: rping is not installed' && return; }
  local plain recorded
  printf 'host a 10.0.0.1\nhost b 10.0.0.2\non a rping -s -a 10.0.0.1 -C 3 -V\non b rping -c -a a -C 3 -V\n' >"$work/scenario"
  for trial in 'seed 3' 'seed 3; schedule/2 random; slack 10us' 'seed 3; schedule/2 pct 3 200; slack 1ms; memory spec'; do
    plain=$(command=replay hash "$work/scenario" "$trial")
    recorded=$(command=replay recording=$work/one hash "$work/scenario" "$trial")
    [ -n "$plain" ] && [ "$plain" = "$recorded" ] || fail "'$trial': $plain, and with a recording $recorded"
  done
}

# --calls stops a program at each scheduling point; without it, a thread passes those at which the schedule would
# choose it.
case_passed_points() {
  local plain stopped
  [ -z "$(missing rping)" ] || { echo '    skipped: rping is not installed' && return; }
  printf 'host a 10.0.0.1\nhost b 10.0.0.2\non a rping -s -a 10.0.0.1 -C 3 -V\non b rping -c -a a -C 3 -V\n' >"$work/scenario"
  for seed in 1 2 3; do
    for order in 'random; slack 10us' 'pct 3 2000; slack 10us' 'pct 5 400; slack 1ms; memory spec' \
      'random; slack 100us; at 5ms: pause a for 3ms'; do
      plain=$(command=replay hash "$work/scenario" "seed $seed; schedule/2 $order")
      stopped=$(command=replay hash --calls "$work/scenario" "seed $seed; schedule/2 $order")
      [ -n "$plain" ] && [ "$plain" = "$stopped" ] || fail "'seed $seed; $order': $plain, and with all stops $stopped"
    done
  done
}

run_cases
