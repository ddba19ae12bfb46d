#!/usr/bin/env bash
# cm over the kernel's connection manager.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine tests/rxe_vm/ucma
