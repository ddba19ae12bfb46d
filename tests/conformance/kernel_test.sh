#!/usr/bin/env bash
# kernel_test.sh linux: the scenarios on a real kernel, with the system's librdmacm and libibverbs alone.
# kernel_test.sh ours: our doors on that kernel (ucma), then across a wire from it (wire).
# kernel_test.sh --write makes what the former shows the records, --write-new where there is none yet.
set -uo pipefail
. tests/rxe_vm/lib.sh

here=tests/conformance

# What judges has nothing of ours in it but the scenarios.
judge_is_alone() {
  local status=0
  ldd $here/linux
  if ldd $here/linux | grep anyrdma; then status=1; fi
  if nm -C $here/linux | grep -E 'anyrdma::(cm|ibcm|roce|sim|transport|verbs|c_api)::'; then status=1; fi
  [ $status = 0 ] || echo "something of ours is in $here/linux" >&2
  return $status
}

case "${!#}" in # the last: bazel run adds --write
linux)
  judge_is_alone || exit 1
  tools/vm/rxe --cpus 2 --deadline 850 -- sh $here/rxe_machine.sh $here/linux
  ;;
ours)
  case "${ANYRDMA_VM_KERNEL:-6.1}" in
  6.1) ;;
  *) skip_all "what is ours is held against the records, which are of kernel 6.1" ;;
  esac
  tools/vm/rxe --cpus 2 --deadline 850 -- sh -c "
    status=0
    sh $here/rxe_machine.sh $here/ucma || status=1
    sh $here/wire_machine.sh $here/wire || status=1
    exit \$status"
  ;;
--write | --write-new)
  judge_is_alone || exit 1
  tools/vm/rxe --cpus 2 --deadline 1700 --share "$BUILD_WORKSPACE_DIRECTORY/$here/records" -- \
    sh $here/rxe_machine.sh $here/linux "${!#}=/mnt/share"
  ;;
esac
