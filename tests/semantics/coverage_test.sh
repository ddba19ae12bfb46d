#!/usr/bin/env bash
# docs/coverage.md is what the tests say, and nothing on it is without a test. Reads the work tree
# behind the runfiles.
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"

# It would notice: a function that nobody calls, a fact that lost its test, an edited page.
mkdir -p "$scratch/docs"
cp --parents -r cm/*_test.cc cm/c_api tests/semantics tests/conformance tests/programs/pyverbs_skips.txt docs/coverage.md "$scratch"
sed -i 's/^    rdma_accept;/    rdma_accept;\n    rdma_untested;/' "$scratch/cm/c_api/librdmacm.map"
sed -i 's/Fact16/Fakt16/' "$scratch/tests/semantics/establishment_test.cc"
notices tests/semantics/coverage.py "no test: rdma_untested" "no test: fact 16" "out of date"
