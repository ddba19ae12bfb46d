#!/usr/bin/env bash
# rdma-core's own Python tests, which Debian puts under /usr/share/doc, on a simulated host: none of them fails, and
# what they say, with the time that each takes, repeats. tests/programs/pyverbs_test holds which of them may be skipped.
. tests/simulated/lib.sh

# Hundreds of tests in one run take tens of seconds of CPU time, and other tests run beside them.
# shellcheck disable=SC2034 # lib.sh reads it
deadline=1200

source=/usr/share/doc/rdma-core/tests
python=/usr/bin/python3 # python3-pyverbs is made for Debian's, not for another one in PATH

[ -d "$source" ] || skip_all "rdma-core's tests are not installed"
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pyverbs") is None)' ||
  skip_all "python3-pyverbs is not installed"
# Python lists the directory that a package is in, and what a run leaves in $work would be in the list of the next.
mkdir "$work/package"
cp -r "$source" "$work/package/tests"
find "$work/package/tests" -name '*.gz' -exec gunzip {} +

modules=()
for file in "$work"/package/tests/test_*.py; do modules+=("tests.$(basename "$file" .py)"); done

says='here/python3: OK( \(skipped=[0-9]+\))?$'

# Under a weak memory, four of their mistakes show, and nothing else: mended, they all pass.
if [ -n "${MEMORIES:-}" ]; then
  wrong_under=$MEMORIES
  alike all_as_they_are "$python tests/programs/pyverbs_run.py $work/package/tests $work/results"
  wrong_under=
  mkdir "$work/mended"
  cp -r "$work/package/tests" "$work/mended/tests"
  "$python" tests/programs/pyverbs_mended.py "$work/mended/tests" || failures=1
  alike all_mended "$python tests/programs/pyverbs_run.py $work/mended/tests $work/results"
  finish
fi

# A host with two devices and with huge pages, which some of the tests want. Every fourth module, so that each case takes
# seconds.
for part in 0 1 2 3; do
  names=
  for ((i = part; i < ${#modules[@]}; i += 4)); do names+=" ${modules[i]}"; done
  seeds_matter=
  [[ "$names " != *" tests.test_relaxed_ordering "* ]] || seeds_matter=1 # of the other parts nothing is chance
  printf '%s\n' 'host here rail0=10.0.0.1/24 rail1=10.0.1.1/24' 'hugepages 64' \
    "on here $python tests/programs/pyverbs_run.py $work/package/tests $work/results$names" >"$work/part.txt"
  rm -f "$work/results"
  table_row "part_$part" "$python" "$work/part.txt"
  [ -e "$work/results" ] || continue
  # Besides those that are skipped everywhere: hosts do not let a process import what another one has opened.
  unlisted=$(awk -F '\t' 'NR == FNR { if (!/^#/) listed[$1] = 1; next }
    $2 == "skip" && !($1 in listed) && $1 !~ /test_import/ { print $1 }' tests/programs/pyverbs_skips.txt "$work/results")
  [ -z "$unlisted" ] || { echo "    FAILED: skipped, but not in pyverbs_skips.txt: $unlisted" && failures=$((failures + 1)); }
done

finish
