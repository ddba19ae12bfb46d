#!/usr/bin/env bash
# Some cases of tests/programs in one machine, on the drop-in over the kernel, and a few beside it on a fabric, which
# tests/programs asks all of them. What is left out, and why: kernel_programs_test.sh.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine --deadline 1700 -- bash -c '
  export EMULATED=1
  suite() { echo "$SECONDS s: $1"; "tests/programs/$1_test.sh" "${@:2}" || status=1; }

  programs_over_it() {
    local status=0
    suite rping both_sides_exit_0 own_queue_pairs_work wildcard_server_serves_loopback \
      death_of_the_client_disconnects_the_server client_without_a_server_is_refused
    suite ucmatose one_connection a_hundred_connections_migrate
    suite udaddy one_path
    suite mckey three_receivers
    suite rdma_client client_and_server
    suite cmtime a_hundred_connections
    suite perftest ib_{send,write,read}_bw_over_sockets ib_send_bw_with_a_shared_receive_queue
    return $status
  }

  programs_beside_it() {
    local status=0
    suite rping both_sides_exit_0
    suite ucmatose one_connection
    suite perftest ib_write_bw_over_sockets
    return $status
  }

  set -o pipefail
  # A fabric has ports of its own, so neither sees the other.
  (programs_beside_it 2>&1 | sed -u "s/^/fabric | /") &
  ANYRDMA_TRANSPORT=ucma ON_KERNEL=10.9.0.1 programs_over_it 2>&1 | sed -u "s/^/ucma   | /"
  ucma=$?
  wait $!
  [ "$ucma$?" = 00 ]'
