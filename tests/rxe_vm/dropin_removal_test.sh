#!/usr/bin/env bash
# A simulated host whose device goes tells programs what the kernel told them: removal.txt, which kernel_removal_test
# holds against a kernel.
set -uo pipefail

plan=$TEST_TMPDIR/plan said=$TEST_TMPDIR/said
echo 'at 5s: remove server anyrdma0' >"$plan"
tools/bin/anyrdma sim --quiet --host server=192.0.2.1 --faults "$plan" --output "$said" \
  --on server "tests/rxe_vm/removal 192.0.2.1 true" \
  --on server "sh -c 'sleep 10; exec tests/rxe_vm/removal 192.0.2.1'" || exit 1
cat "$said"/*.out | diff tests/rxe_vm/removal.txt - || { echo "FAILED: (< the kernel, > simulated)"; exit 1; }
echo PASSED
