#!/usr/bin/env bash
# rdma-core's own Python tests, which Debian puts under /usr/share/doc, on a simulated host: none of them fails.
# tests/programs/pyverbs_test holds which of them may be skipped.
. tests/simulated/lib.sh

source=/usr/share/doc/rdma-core/tests
python=/usr/bin/python3 # python3-pyverbs is made for Debian's, not for another one in PATH

[ -d "$source" ] || skip_all "rdma-core's tests are not installed"
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("pyverbs") is None)' ||
  skip_all "python3-pyverbs is not installed"
cp -r "$source" "$work/tests"
find "$work/tests" -name '*.gz' -exec gunzip {} +

modules=()
for file in "$work"/tests/test_*.py; do modules+=("tests.$(basename "$file" .py)"); done

three_runs() { # OPTION...
  echo "    not compared with other runs: on a busy machine one was seen to differ, and why is not known"
  one_run first "$@" || { tail -n 15 "$work/first.log" | cut -c1-200 | sed 's/^/      /' && return; }
  grep -qE -- "$says" "$work/first.log" || fail "nobody says '$says'"
}

# Every fourth one, so that each case takes seconds.
says='here/python3: OK \(skipped=[0-9]+\)$'
for part in 0 1 2 3; do
  names=
  for ((i = part; i < ${#modules[@]}; i += 4)); do names+=" ${modules[i]}"; done
  alike "part_$part" "$python tests/programs/pyverbs_run.py $work/tests $work/results$names"
done

finish
