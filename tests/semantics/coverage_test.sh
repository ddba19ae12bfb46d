#!/usr/bin/env bash
# docs/coverage.md is what the tests say, and nothing on it is without a test. Reads the work tree
# behind the runfiles.
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
export PYTHONDONTWRITEBYTECODE=1
cd "$root"
python3 tests/semantics/coverage.py .

# And it would notice: a function that nobody calls, a fact that lost its test, an edited page.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/docs"
cp --parents -r cm/*_test.cc cm/c_api tests/semantics tests/conformance docs/coverage.md "$scratch"
sed -i 's/^    rdma_accept;/    rdma_accept;\n    rdma_untested;/' "$scratch/cm/c_api/librdmacm.map"
sed -i 's/Fact16/Fakt16/' "$scratch/tests/semantics/establishment_test.cc"
said=$(python3 tests/semantics/coverage.py "$scratch") && { echo "FAILED: it is satisfied"; exit 1; }
for complaint in "no test: rdma_untested" "no test: fact 16" "out of date"; do
  grep -q "$complaint" <<<"$said" || { echo "FAILED: no word of '$complaint' in: $said"; exit 1; }
done
echo PASSED
