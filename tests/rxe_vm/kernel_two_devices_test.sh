#!/usr/bin/env bash
# What `two_devices` sees of Linux with two rxe links, against two_devices.txt, which simulated hosts are held against.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine sh tests/rxe_vm/two_devices_machine.sh tests/rxe_vm/two_devices "sh tests/rxe_vm/two_devices_changes.sh" |
  diff tests/rxe_vm/two_devices.txt - ||
  { echo "FAILED: (< two_devices.txt, > the kernel)"; exit 1; }
echo PASSED
