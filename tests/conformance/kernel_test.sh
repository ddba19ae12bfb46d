#!/usr/bin/env bash
# kernel_test.sh linux: the scenarios on a real kernel, with the system's librdmacm and libibverbs alone;
# kernel_test.sh loss: those of them that need a hub between two devices, in a machine of their own.
# kernel_test.sh ours: our doors on that kernel (ucma), then across a wire from it (wire).
# kernel_test.sh iwarp: the first on that kernel's software iWARP; with --write behind it, makes what it shows twice its records.
# kernel_test.sh --write makes what the first two show the records, --write-new where there is none yet.
set -uo pipefail
. tests/rxe_vm/lib.sh

here=tests/conformance

# The machines have one processor: most of the time they wait, and what two emulated ones do at once costs twice as much.

# perform PROGRAM: the scenarios, then those that need a bond, on one.
perform() {
  echo "sh $here/rxe_machine.sh $1 --gtest_filter=-*own_bond*:*change_of_the_peer:*/loss_* || status=1"
  echo "sh $here/bond_machine.sh $1 --gtest_filter=*own_bond_* || status=1"
}

# Those that need a hub, which needs the bond. What fails over would disturb the others.
perform_across_the_hub() { # PROGRAM
  echo "sh $here/bond_machine.sh true || status=1"
  echo "sh $here/hub_machine.sh $1 --gtest_filter=*own_bond:*change_of_the_peer || status=1"
  echo "$1 --gtest_filter=*/loss_* || status=1"
}

# The same, for records.
write() { # PROGRAM OPTION
  echo "sh $here/rxe_machine.sh $1 $2=/mnt/share -address_change/of_the,loss/ || status=1"
  echo "sh $here/bond_machine.sh true || status=1"
  echo "sh $here/hub_machine.sh $1 $2=/mnt/share address_change/of_the || status=1"
  echo "$1 $2=/mnt/share loss/ || status=1"
}

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
  in_machine --deadline 1700 -- sh -fc "status=0
    $(perform $here/linux)
    exit \$status"
  ;;
loss)
  judge_is_alone || exit 1
  in_machine --deadline 1700 -- sh -fc "status=0
    $(perform_across_the_hub $here/linux)
    exit \$status"
  ;;
ours)
  case "${ANYRDMA_VM_KERNEL:-6.1}" in
  6.1) ;;
  *) skip_all "what is ours is held against the records, which are of kernel 6.1" ;;
  esac
  in_machine --deadline 1700 -- sh -fc "
    status=0
    $(perform $here/ucma | head -n 1)
    sh $here/wire_machine.sh $here/wire || status=1
    $(perform $here/ucma | tail -n 1)
    exit \$status"
  ;;
iwarp)
  judge_is_alone || exit 1
  in_machine --device siw --cpus 2 --deadline 1700 -- sh $here/devices_machine.sh $here/linux
  ;;
--write | --write-new)
  if [ "$1" = iwarp ]; then
    tools/vm/rxe --device siw --cpus 2 --deadline 1700 --share "$BUILD_WORKSPACE_DIRECTORY/$here/records_iwarp" -- \
      sh $here/devices_machine.sh $here/linux "${!#}=/mnt/share"
    exit
  fi
  judge_is_alone || exit 1
  tools/vm/rxe --deadline 1700 --share "$BUILD_WORKSPACE_DIRECTORY/$here/records" -- \
    sh -fc "status=0
    $(write $here/linux "${!#}")
    exit \$status"
  ;;
esac
