#!/usr/bin/env bash
# rdma-core's own Python tests, which Debian puts under /usr/share/doc. Every test that does not pass must be in
# pyverbs_skips.txt, and may only be skipped: a feature that is lost shows as a skip.
. tests/programs/lib.sh

source=/usr/share/doc/rdma-core/tests
python=/usr/bin/python3 # python3-pyverbs is made for Debian's, not for another one in PATH
at_least=143 # that pass of 273; raised with what the library learns
huge_pages=/proc/sys/vm/nr_hugepages

[ -d "$source" ] || skip_all "rdma-core's tests are not installed"
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pyverbs") is None)' ||
  skip_all "python3-pyverbs is not installed"

# The three tests that want huge pages, which are a case of their own: had they to stay reserved for as long as all others
# take, programs of other tests would take them.
on_huge_pages='tests\.(test_odp\.OdpTestCase\.test_odp_rc_huge_(user_addr_)?traffic|test_parent_domain\.ParentDomainTrafficTest\.test_huge_page_traffic)'

# tests_of_rdma_core RESULTS NAME...: how the tests of these names (none: all) end.
tests_of_rdma_core() {
  local results=$1
  shift
  if [ ! -e "$work/tests" ]; then
    cp -r "$source" "$work/tests"
    find "$work/tests" -name '*.gz' -exec gunzip {} +
  fi
  run pyverbs "$python" tests/programs/pyverbs_run.py "$work/tests" "$work/$results" "$@"
}

# how many tests have an outcome
count() { awk -F '\t' -v wanted="$1" '$2 == wanted' "$work/results" | wc -l; }

case_all_of_rdma_core() {
  local unlisted failed
  tests_of_rdma_core every
  expect_status "pyverbs_run.py" 0 $?
  [ -s "$work/every" ] || return
  grep -vE "^$on_huge_pages	" "$work/every" >"$work/results"

  printf '    %s ok, %s skipped, %s failed, %s errors\n' \
    "$(count ok)" "$(count skip)" "$(count fail)" "$(count error)"
  awk -F '\t' '$2 == "skip" { print $3 }' "$work/results" | sort | uniq -c | sort -rn | sed 's/^/    /'
  [ "$(count ok)" -ge "$at_least" ] || fail "fewer than $at_least tests pass"
  failed=$(awk -F '\t' '$2 == "fail" || $2 == "error" { print "    " $0 }' "$work/results")
  [ -z "$failed" ] || fail "tests that fail:
$failed"
  unlisted=$(awk -F '\t' 'NR == FNR { if (!/^#/) listed[$1] = 1; next } $2 == "skip" && !($1 in listed)' \
    tests/programs/pyverbs_skips.txt "$work/results")
  [ -z "$unlisted" ] || fail "skipped, but not in pyverbs_skips.txt: $unlisted"
}

# Ends well where a huge page can be had just now.
a_huge_page_is_free() {
  "$python" - <<'END' 2>/dev/null
import mmap
mmap.mmap(-1, 1 << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)[0] = 1  # MAP_HUGETLB
END
}

# reserve COUNT: pages, unless the machine has as many as it takes anyway; only root can
reserve() { [ "$before" -ge 64 ] || echo "$1" 2>/dev/null >"$huge_pages" || true; }

# A machine's huge pages belong to all that runs on it, so what fails is tried again, and a failure counts only if there was
# a page before and after it.
case_with_huge_pages() {
  local before failed='' passed='' try
  before=$(cat "$huge_pages" 2>/dev/null) || {
    skip "the kernel has no huge pages"
    return
  }
  for try in 1 2 3 4 5; do
    reserve 64
    a_huge_page_is_free || continue
    tests_of_rdma_core huge tests.test_odp.OdpTestCase tests.test_parent_domain.ParentDomainTrafficTest
    expect_status "pyverbs_run.py" 0 $?
    grep -E "^$on_huge_pages	" "$work/huge" >"$work/results"
    if [ "$(count ok)" = 3 ]; then
      passed=1
      break
    fi
    ! a_huge_page_is_free || failed+="
try $try: $(cat "$work/results")"
  done
  reserve "$before"
  if [ -n "$passed" ]; then
    printf '    3 ok, try %s\n' "$try"
  elif [ -n "$failed" ]; then
    fail "of 3 tests with huge pages some do not pass:$failed"
  else
    skip "no huge pages are to be had from this machine by user $(id -u)"
  fi
}

run_cases "$@"
