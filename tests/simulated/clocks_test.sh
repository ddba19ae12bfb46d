#!/usr/bin/env bash
# What programs read their clocks by, the page that they share with the world or a system call, does not show.
. tests/simulated/lib.sh

clocks=$PWD/tests/simulated/clocks

says='here/clocks: alternating: 0 wrong'
alike by_the_library_and_by_calls_in_turn "$clocks alternate"

says='here/clocks: comparing: 0 wrong'
alike all_clocks_and_ways_agree "$clocks compare"

says='here/clocks: telling: 0 wrong'
alike threads_that_tell_each_other_the_time "$clocks tell"

says='here/clocks: a child and its parent: 0 wrong'
alike children_with_their_parents_page_and_their_own "$clocks fork-and-exec"

says='here/bash: woken'
alike one_that_waits_busily_does_not_stop_time "$clocks wait-busily" 'bash -c "sleep 0.003; echo woken"'

says='here/clocks: a reading takes 200 ns, a call 200 ns'
alike what_a_reading_takes "$clocks cost"

says='here/clocks: a reading takes 5000 ns, a call 5000 ns'
settings=(--call-cost 5us)
alike what_a_reading_takes_if_calls_are_dear "$clocks cost"
settings=()

# The page saves stops, not time: nobody who is woken while another one looks at its clock comes late.
case_who_sleeps_beside_a_busy_one_wakes_in_time() {
  local said
  said=$(timeout -k 5 "$deadline" tools/bin/anyrdma sim --host here=10.0.0.1 --on here "$clocks wait-busily" \
    --on here 'bash -c "sleep 0.003; echo woken"' 2>&1 | grep woken)
  # The second program starts 10 ms after the first.
  [[ $said == 0.013* ]] || fail "it woke up at another time: $said"
}

# explored SCHEDULE
orders() {
  printf '%s\n' 'host here 10.0.0.1' "on here $clocks tell" "on here $clocks alternate" \
    "on here $clocks fork-and-exec" >"$work/scenario"
  timeout -k 5 900 tools/bin/anyrdma explore "$work/scenario" --schedule "$1" --seeds 6 >"$work/found" 2>&1 </dev/null ||
    fail "with schedule $1: $(head -n 5 "$work/found")"
}

case_no_order_shows_it() {
  local schedule
  for schedule in fifo random pct; do orders "$schedule"; done
}

run_cases
