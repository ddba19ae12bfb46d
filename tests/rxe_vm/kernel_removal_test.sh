#!/usr/bin/env bash
# What `removal` is told by the kernel in the machine when its device goes, against removal.txt, which the simulator is
# held against. It is told because tools/vm loads rdma_cm after ib_uverbs: the other way round the kernel waits until the
# device is closed before it tells the connection manager.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine sh -c '
  tests/rxe_vm/removal 10.9.0.1 "rdma link delete rxe0"
  until [ -z "$(rdma link)" ]; do sleep 0.1; done
  tests/rxe_vm/removal 10.9.0.1' | diff tests/rxe_vm/removal.txt - ||
  { echo "FAILED: (< removal.txt, > the kernel)"; exit 1; }
echo PASSED
