#!/usr/bin/env bash
# The scenarios on a real kernel: alone (rxe), then across a wire from our own stack (wire).
# kernel_test.sh --write makes what the former shows the records.
set -uo pipefail
. tests/rxe_vm/lib.sh

here=tests/conformance
if [ "${1:-}" = --write ]; then
  tools/vm/rxe --cpus 2 --deadline 850 --share "$BUILD_WORKSPACE_DIRECTORY/$here/records" -- \
    sh $here/rxe_machine.sh $here/rxe --write=/mnt/share
else
  tools/vm/rxe --cpus 2 --deadline 850 -- sh -c "
    status=0
    sh $here/rxe_machine.sh $here/rxe || status=1
    sh $here/wire_machine.sh $here/wire || status=1
    exit \$status"
fi
