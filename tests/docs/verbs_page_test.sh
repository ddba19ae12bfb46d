#!/usr/bin/env bash
# Each feature that docs/verbs.md claims names tests that exist. Reads the work tree behind the runfiles.
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
export PYTHONDONTWRITEBYTECODE=1
cd "$root"
python3 tests/docs/verbs_page.py .

# And it would notice: a test that is gone, a feature without one, a row that lacks an answer.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp --parents -r docs/verbs.md tests/programs verbs/soft "$scratch"
for folder in cm transport sim; do ln -s "$root/$folder" "$scratch"; done
ln -s "$root/verbs/c_api" "$scratch/verbs/c_api"
sed -i 's/, ACompletionIsAnnouncedOnceIfAskedFor)/, Renamed)/' "$scratch/verbs/soft/events_test.cc"
sed -i 's/^| RDMA READ | yes: [^|]*|/| RDMA READ | yes |/; s/^| RC | yes\(.*\) yes |$/| RC | yes\1/' "$scratch/docs/verbs.md"
said=$(python3 tests/docs/verbs_page.py "$scratch") && { echo "FAILED: it is satisfied"; exit 1; }
for complaint in "no test Events.ACompletionIsAnnouncedOnceIfAskedFor" "names no test: RDMA READ" "three answers: | RC "; do
  grep -qF "$complaint" <<<"$said" || { echo "FAILED: no word of '$complaint' in: $said"; exit 1; }
done
echo PASSED
