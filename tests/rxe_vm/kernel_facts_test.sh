#!/usr/bin/env bash
# What `facts` finds out about the kernel in the machine, against facts.txt, which the drop-in is held against.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine tests/rxe_vm/facts 10.9.0.1 | diff tests/rxe_vm/facts.txt - ||
  { echo "FAILED: (< facts.txt, > the kernel)"; exit 1; }
echo PASSED
