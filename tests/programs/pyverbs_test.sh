#!/usr/bin/env bash
# rdma-core's own Python tests, which Debian puts under /usr/share/doc. Every test that does not pass must be in
# pyverbs_skips.txt, and may only be skipped: a feature that is lost shows as a skip.
. tests/programs/lib.sh

source=/usr/share/doc/rdma-core/tests
python=/usr/bin/python3 # python3-pyverbs is made for Debian's, not for another one in PATH
at_least=143 # that pass of 273; raised with what the library learns
huge_pages=/proc/sys/vm/nr_hugepages
deadline=300

[ -d "$source" ] || skip_all "rdma-core's tests are not installed"
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pyverbs") is None)' ||
  skip_all "python3-pyverbs is not installed"

# how many tests have an outcome
count() { awk -F '\t' -v wanted="$1" '$2 == wanted' "$work/results" | wc -l; }

# Three tests want some, and only root can have them reserved; programs of other tests take some, too. Prints how many there
# were before; nothing: all is left.
reserve_huge_pages() {
  local before
  before=$(cat "$huge_pages" 2>/dev/null) || return
  [ "$before" -lt 64 ] && [ "$(id -u)" = 0 ] && echo 64 >"$huge_pages" 2>/dev/null && echo "$before"
}

give_back_huge_pages() { # BEFORE
  [ -z "$1" ] || echo "$1" >"$huge_pages"
}

case_all_of_rdma_core() {
  local unlisted reserved
  cp -r "$source" "$work/tests"
  find "$work/tests" -name '*.gz' -exec gunzip {} +
  reserved=$(reserve_huge_pages)
  run pyverbs "$python" tests/programs/pyverbs_run.py "$work/tests" "$work/results"
  expect_status "pyverbs_run.py" 0 $?
  give_back_huge_pages "$reserved"
  [ -s "$work/results" ] || return

  printf '    %s ok, %s skipped, %s failed, %s errors\n' \
    "$(count ok)" "$(count skip)" "$(count fail)" "$(count error)"
  awk -F '\t' '$2 == "skip" { print $3 }' "$work/results" | sort | uniq -c | sort -rn | sed 's/^/    /'
  [ -z "$reserved" ] || at_least=$((at_least + 3))
  [ "$(count ok)" -ge "$at_least" ] || fail "fewer than $at_least tests pass"
  ! awk -F '\t' '$2 == "fail" || $2 == "error" { print "    " $0; found = 1 } END { exit !found }' "$work/results" ||
    fail "tests that fail"
  unlisted=$(awk -F '\t' 'NR == FNR { if (!/^#/) listed[$1] = 1; next } $2 == "skip" && !($1 in listed)' \
    tests/programs/pyverbs_skips.txt "$work/results")
  [ -z "$unlisted" ] || fail "skipped, but not in pyverbs_skips.txt: $unlisted"
}

run_cases "$@"
