#!/usr/bin/env bash
# What the kernel in the machine answers to structs with wrong handles, against handles.txt, which the drop-in is held against.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine tests/rxe_vm/handles | diff tests/rxe_vm/handles.txt - ||
  { echo "FAILED: (< handles.txt, > the kernel)"; exit 1; }
echo PASSED
