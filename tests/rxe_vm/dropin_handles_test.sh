#!/usr/bin/env bash
# What the drop-in answers to structs with wrong handles, against handles.txt: what Linux answered.
set -uo pipefail
. tests/programs/skip.sh

timeout 300 tools/bin/anyrdma run --fabric "handles-$$" -- tests/rxe_vm/handles |
  diff tests/rxe_vm/handles.txt - || { echo "FAILED: (< Linux, > the drop-in)"; exit 1; }
echo PASSED
