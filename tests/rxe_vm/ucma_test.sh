#!/usr/bin/env bash
# The kernel's connection manager under ours: cm in a C++ program, then unmodified programs on the drop-in.
# Those have two libibverbs.so.1 in the process, and one of them speaks to the kernel.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine bash -c '
  status=0
  tests/rxe_vm/ucma || status=1
  export ON_KERNEL=10.9.0.1 ANYRDMA_TRANSPORT=ucma LD_LIBRARY_PATH=$PWD/tools/bin/lib
  suite() { echo "$1"; "tests/programs/$1_test.sh" "${@:2}" || status=1; }
  suite rping both_sides_exit_0 events_are_shown death_of_the_client_disconnects_the_server \
    second_server_on_one_port_is_refused client_without_a_server_is_refused
  suite ucmatose a_hundred_connections_migrate a_type_of_service_may_be_set
  suite udaddy one_path
  suite mckey three_receivers
  suite rdma_client client_and_server
  exit $status'
