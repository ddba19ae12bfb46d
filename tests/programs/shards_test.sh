#!/usr/bin/env bash
# An exploration in parts: whatever says which part is whose, and however many there are, the merged report is that
# of a run in one piece.
. tests/programs/lib.sh

unset TEST_SHARD_INDEX TEST_TOTAL_SHARDS

# Some go wrong: whoever is told of another queue pair than that which sends. The rest does well.
cat >"$work/plan" <<'PLAN'
on client->server REQ 1: alter local_qpn 7
at 6us: cut client->server
on client->server DREP 7: lose
PLAN
search=(explore connect --seeds 90 --faults "$work/plan" --keep-going)

without_times() { sed -E '1s/ in [0-9.]+ s( of [0-9]+ shards?)?//'; }

# in_parts NAME INDEX...: a run for each, with the variables that `say_shard` gives it, and their merged report
in_parts() {
  local name=$1 index
  shift
  for index in "$@"; do
    # shellcheck disable=SC2046 # words
    env $(say_shard "$index") "$anyrdma" "${search[@]}" ${more[@]+"${more[@]}"} --results "$work/$name" \
      >"$work/$name.$index.log" 2>"$work/$name.$index.err"
  done
  "$anyrdma" merge "$work/$name" >"$work/$name.log"
  expect_status "merge $name" 1 $?
  without_times <"$work/$name.log" >"$work/$name.report"
  cmp -s "$work/whole.report" "$work/$name.report" ||
    fail "$name: the report is another: $(diff "$work/whole.report" "$work/$name.report" | head -n 9)"
}

in_one_piece() {
  "$anyrdma" "${search[@]}" ${more[@]+"${more[@]}"} | without_times >"$work/whole.report"
  grep -q 'went wrong like this' "$work/whole.report" || fail "nothing went wrong"
  grep -q 'never fired: maybe on client->server DREP 7' "$work/whole.report" || fail "no fault never fired"
}

case_parts_add_up_to_the_whole_by_option() {
  more=()
  in_one_piece
  for index in 0 1 2; do
    "$anyrdma" "${search[@]}" --shard "$index/3" --results "$work/parts" >/dev/null 2>"$work/said.log"
    expect_line said "^anyrdma: shard $index of 3, counted from 0, as --shard says"
  done
  "$anyrdma" merge "$work"/parts/*.results >"$work/sum.log"
  expect_status merge 1 $?
  without_times <"$work/sum.log" | cmp -s - "$work/whole.report" || fail "another report"
}

case_parts_add_up_to_the_whole_under_bazel() {
  more=()
  in_one_piece
  say_shard() { echo "TEST_SHARD_INDEX=$1 TEST_TOTAL_SHARDS=4 TEST_SHARD_STATUS_FILE=$work/status"; }
  in_parts bazel 0 1 2 3
  [ -e "$work/status" ] || fail "Bazel is not told that shards are known"
  grep -q '^anyrdma: shard 3 of 4, counted from 0, as TEST_SHARD_INDEX says' "$work/bazel.3.err" || fail "it is not said"
}

case_parts_add_up_to_the_whole_in_a_slurm_array_with_a_step() {
  more=()
  in_one_piece
  say_shard() {
    echo "SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=30 SLURM_ARRAY_TASK_STEP=10" \
      "SLURM_ARRAY_TASK_COUNT=3"
  }
  in_parts slurm 10 20 30
}

case_parts_add_up_to_the_whole_in_an_indexed_job() {
  more=()
  in_one_piece
  say_shard() { echo "JOB_COMPLETION_INDEX=$1"; }
  more=(--shards 2)
  in_parts kubernetes 0 1
}

case_parts_add_up_to_the_whole_where_removals_are_placed() {
  more=(--steps 1)
  in_one_piece
  say_shard() { echo "TEST_SHARD_INDEX=$1 TEST_TOTAL_SHARDS=3"; }
  in_parts placed 0 1 2
}

case_all_scenarios_have_a_report_each() {
  for index in 0 1; do
    "$anyrdma" explore all --seeds 20 --shard "$index/2" --results "$work/all" >/dev/null 2>&1
    expect_status "shard $index" 0 $?
  done
  "$anyrdma" merge "$work/all" >"$work/all.log"
  expect_status merge 0 $?
  for scenario in connect clients late reconnect datagram multicast; do
    expect_line all "^$scenario: 20 runs.* in [0-9.]* s of 2 shards$"
  done
  "$anyrdma" explore late --seeds 20 --faults none --results "$work/late" >/dev/null 2>&1
  "$anyrdma" merge --must-see "$work/late" >/dev/null 2>"$work/unseen.log"
  expect_status 'merge --must-see' 1 $?
}

refused() { # PATTERN ARGUMENT...
  local pattern=$1 out
  shift
  out=$("$anyrdma" "$@" 2>"$work/refused.log")
  expect_status "anyrdma $*" 2 $?
  [ -z "$out" ] || fail "anyrdma $* wrote to stdout: $out"
  expect_line refused "$pattern"
}

case_what_is_no_whole_is_refused() {
  mkdir "$work/empty"
  for index in 0 1 2; do
    "$anyrdma" explore connect --seeds 9 --shard "$index/3" --results "$work/of" >/dev/null 2>&1
  done
  "$anyrdma" explore connect --seeds 10 --shard 1/3 --results "$work/other" >/dev/null 2>&1
  local zero=$work/of/connect.0-of-3.results two=$work/of/connect.2-of-3.results
  refused "^anyrdma: of 3 shards of 'connect' these are missing: 1\." merge "$zero" "$two"
  refused "^anyrdma: .* are both shard 2 of 3\.$" merge "$work/of" "$two"
  refused "is of another search than .*: option 'seeds 10 from 1', not 'seeds 9 from 1'\.$" \
    merge "$zero" "$work/other" "$two"
  refused "^anyrdma: there are no results in " merge "$work/empty"
  refused "^anyrdma: the results '/no/file' cannot be read" merge /no/file
  head -n 5 "$two" >"$work/cut"
  refused "^anyrdma: .*/cut: line 6: " merge "$zero" "$work/cut"
  refused "^anyrdma: .*PATH is required" merge
  "$anyrdma" merge --partial "$zero" "$two" >"$work/partial.log" 2>"$work/without.log"
  expect_status 'merge --partial' 0 $?
  expect_line partial '^connect: 6 runs'
  expect_line without "^anyrdma: the report lacks the shards 1 of 3 of 'connect'\.$"
}

case_a_shard_that_is_not_said_is_refused() {
  refused "^anyrdma: --shard '3' is invalid\. Write I/N" explore connect --shard 3
  refused '^anyrdma: --shards 4 says of how many' explore connect --shards 4
  refused "^anyrdma: results cannot be written to the directory '/dev/null/x': " explore connect --results /dev/null/x
  JOB_COMPLETION_INDEX=3 refused '^anyrdma: JOB_COMPLETION_INDEX is 3, but no variable says of how many\. Add --shards N' \
    explore connect
  TEST_TOTAL_SHARDS=4 TEST_SHARD_INDEX=1 refused '^anyrdma: --shards 5, but by TEST_SHARD_INDEX there are 4' \
    explore connect --shards 5
}

run_cases "$@"
