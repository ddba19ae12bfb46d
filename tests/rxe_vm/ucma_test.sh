#!/usr/bin/env bash
# cm over the kernel's connection manager, in a C++ program. Programs on the drop-in: dropin_programs_test.sh.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine tests/rxe_vm/ucma
