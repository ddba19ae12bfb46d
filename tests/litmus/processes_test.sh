#!/usr/bin/env bash
# The litmus tests of docs/memory.md between simulated processes.
. tests/simulated/lib.sh

seen() { # PROFILE SEEDS ROUNDS [TEST...]
  local wrong
  wrong=$(python3 tests/litmus/processes.py tools/bin/anyrdma tests/litmus/litmus.program "$@" 2>&1) || fail "$wrong"
}

case_under_spec_exactly_what_is_allowed_is_seen() {
  seen spec 30 20
}

case_under_strict_only_what_a_device_in_order_does_is_seen() {
  seen strict 2 20
}

case_of_relaxed_regions_the_flag_may_come_before_the_data() {
  seen relaxed 3 50 L5
}

case_where_memory_is_unordered_a_read_may_pass_a_write() {
  seen unordered 2 30 L13
}

case_a_run_is_the_same_when_it_is_repeated() {
  local options=(sim --memory spec --seed 7 "$work/nodes.txt")
  echo 'allow source "the tests ask which bytes a device reads from a source that changes"' >"$work/nodes.txt"
  for node in 0 1 2; do
    printf 'host n%d 10.0.0.%d\non n%d %s\n' "$node" $((node + 1)) "$node" "$PWD/tests/litmus/litmus.program $node 2" >>"$work/nodes.txt"
  done
  tools/bin/anyrdma "${options[@]}" >"$work/once" 2>&1 </dev/null || fail "$(cat "$work/once")"
  tools/bin/anyrdma "${options[@]}" >"$work/again" 2>&1 </dev/null
  cmp -s "$work/once" "$work/again" || fail "$(diff "$work/once" "$work/again")"
}

case_a_profile_that_is_none_is_refused_by_name() {
  tools/bin/anyrdma sim --memory sparse --host n0=10.0.0.1 --on n0 true >"$work/said" 2>&1 </dev/null
  [ $? = 2 ] && grep -q "there is no memory profile 'sparse'. Profiles: strict, spec, relaxed, unordered" "$work/said" ||
    fail "it says: $(cat "$work/said")"
}

run_cases
