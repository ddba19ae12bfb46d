#!/usr/bin/env bash
# Huge pages on simulated hosts (huge.c): ordinary memory, aligned, as much as the scenario file says.
. tests/simulated/lib.sh

huge=$PWD/tests/simulated/huge

scenario_of() { # PAGES COMMAND...: in $work/scenario.txt
  local pages=$1
  shift
  {
    echo 'host here 10.0.0.1'
    echo 'host there 10.0.0.2'
    [ "$pages" = 0 ] || echo "hugepages $pages"
    printf 'on %s\n' "$@"
  } >"$work/scenario.txt"
}

says_lines() { # LINE...: of the first run
  local line
  for line in "$@"; do
    grep -qF -- "$line" "$work/first.log" || fail "nobody says '$line': $(head -c 2000 "$work/first.log")"
  done
}

case_are_mapped_in_each_way() {
  scenario_of 8 "here $huge"
  same_runs "$work/scenario.txt"
  says_lines 'at first: HugePages_Total: 8 HugePages_Free: 8' 'three pages: aligned' \
    'then: HugePages_Total: 8 HugePages_Free: 5' 'two pages by their size: aligned' 'part of a page: aligned' \
    'a fixed page: aligned' 'System V memory: aligned' 'memfd: aligned' 'in a child: aligned'
}

case_are_refused_where_linux_refuses_them() {
  scenario_of 8 "here $huge"
  one_run first "$work/scenario.txt"
  says_lines 'more than there are: Cannot allocate memory' 'a page of a gigabyte: Cannot allocate memory' \
    'nothing: Invalid argument' "a fixed page at no page's beginning: Invalid argument"
}

case_are_free_again_when_they_are_not_mapped_any_more() {
  scenario_of 8 "here $huge"
  one_run first "$work/scenario.txt"
  says_lines 'with it: HugePages_Total: 8 HugePages_Free: 4' 'without it: HugePages_Total: 8 HugePages_Free: 5'
}

case_of_one_program_are_another_ones_afterwards() {
  scenario_of 8 "here $huge" "here $huge"
  one_run first "$work/scenario.txt"
  [ "$(grep -c 'at first: HugePages_Total: 8 HugePages_Free: 8' "$work/first.log")" = 2 ] || fail "$(cat "$work/first.log")"
}

case_are_each_hosts_own() {
  scenario_of 8 "here $huge" "there $huge"
  one_run first "$work/scenario.txt"
  [ "$(grep -c 'at first: HugePages_Total: 8 HugePages_Free: 8' "$work/first.log")" = 2 ] || fail "$(cat "$work/first.log")"
}

case_are_none_without_a_line_in_the_file() {
  scenario_of 0 "here $huge"
  one_run first "$work/scenario.txt"
  says_lines 'at first: HugePages_Total: 0 HugePages_Free: 0' 'three pages: Cannot allocate memory' \
    'System V memory: Cannot allocate memory' 'memfd: Cannot allocate memory'
}

case_are_as_many_as_the_command_line_says() {
  one_run first --host here=10.0.0.1 --hugepages 8 --on here "$huge"
  says_lines 'at first: HugePages_Total: 8 HugePages_Free: 8'
}

case_are_registered_and_written_to_by_a_peer() {
  command -v ib_write_bw >/dev/null || { printf '    skipped: ib_write_bw is not installed\n' && return; }
  scenario_of 64 'here ib_write_bw --use_hugepages -n 20 -s 65536' 'there ib_write_bw --use_hugepages -n 20 -s 65536 10.0.0.1'
  same_runs "$work/scenario.txt"
  says_lines 'there/ib_write_bw:  65536      20'
}

run_cases
