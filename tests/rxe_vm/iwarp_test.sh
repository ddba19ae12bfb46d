#!/usr/bin/env bash
# Programs on the software iWARP of Linux 6.1 (siw), between two devices of one machine: with Debian's own libraries, which is the
# reference, then on the drop-in over the kernel's connection manager. Left out is what fails with Debian's own there: rping -q,
# for rdma_establish is EINVAL, ucmatose's hundred connections at once, and rdma_client, both sides of which wait for ever now and then.
set -uo pipefail
. tests/rxe_vm/lib.sh
[ "${ANYRDMA_VM_KERNEL:-6.1}" = 6.1 ] || skip_all "iWARP is asked of kernel 6.1 alone"
reason=$(tools/vm/rxe --device siw --check 2>&1) || skip_all "${reason#rxe: }"

in_machine --deadline 850 --device siw --cpus 2 -- sh tests/conformance/devices_machine.sh bash -c '
  export EMULATED=1 ON_KERNEL=10.9.0.1
  status=0
  suite() { echo "$SECONDS s: $1"; "tests/programs/$1_test.sh" "${@:2}" || status=1; }
  programs() {
    suite rping both_sides_exit_0 data_are_shown_and_wrap_around events_are_shown wildcard_server_serves_loopback \
      death_of_the_client_disconnects_the_server death_of_the_server_disconnects_the_client
    suite ucmatose one_connection long_messages_work
  }

  devices=$(ibv_devinfo -v)
  [ "$(grep -c "transport:[[:space:]]*iWARP" <<<"$devices")" = 2 ] || { echo "FAILED: $devices"; status=1; }
  echo "with the libraries of the system"
  programs
  export ANYRDMA_TRANSPORT=ucma
  echo "on the drop-in"
  diff <(echo "$devices") <(echo "$(tools/bin/anyrdma run -- ibv_devinfo -v)") || { echo "FAILED: (< system, > drop-in)"; status=1; }
  programs
  exit $status'
