#!/usr/bin/env bash
# What chooses and makes real devices, where there are some: transport/rxe, `anyrdma rxe`, and the example
# that runs everywhere. One machine for all, because starting it takes longest.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine bash -c '
  status=0
  expect() { # PATTERN COMMAND...: what the command says, in its last line
    local said pattern=$1
    shift
    said=$("$@" 2>&1 | tail -n 1)
    grep -qE -- "$pattern" <<<"$said" || { echo "FAILED: $*: $said"; status=1; }
  }
  first_line() { "$@" | head -n 1; }
  anyrdma=tools/bin/anyrdma
  tests/rxe_vm/rxe_links || status=1

  expect "^rxe0 on veth0$" $anyrdma rxe show
  expect "^anyrdma: An RDMA device is called .rxe0. already" $anyrdma rxe add rxe0 veth1
  expect "^anyrdma: Making and removing .* CAP_NET_ADMIN" setpriv --reuid 65534 --clear-groups $anyrdma rxe add rxe1 veth1
  $anyrdma rxe add rxe1 veth1 || status=1
  expect "^rxe1 on veth1$" $anyrdma rxe show
  $anyrdma rxe del rxe1 || status=1
  expect "^rxe0 on veth0$" $anyrdma rxe show
  expect "^anyrdma: There is no RDMA device .rxe1." $anyrdma rxe del rxe1

  examples/anywhere_test.sh ucma rxe auto || status=1
  expect "^over ucma$" first_line examples/anywhere --transport auto
  chmod 600 /dev/infiniband/*
  expect "/dev/infiniband/.* may not be opened" setpriv --reuid 65534 --clear-groups examples/anywhere --transport ucma
  chmod 666 /dev/infiniband/*

  $anyrdma rxe del rxe0 || status=1
  expect "^This machine has no RDMA device" examples/anywhere --transport ucma
  expect "^over fabric$" first_line examples/anywhere --transport auto
  expect "CAP_NET_ADMIN: run this as root, or use a link" setpriv --reuid 65534 --clear-groups examples/anywhere --transport rxe
  timeout 300 examples/anywhere_test.sh rxe || status=1
  patience=$((SECONDS + 300))
  until [ -z "$($anyrdma rxe show)" ] || [ $SECONDS -gt $patience ]; do :; done
  expect "^$" $anyrdma rxe show
  $anyrdma rxe add rxe0 veth0 || status=1

  tests/rxe_vm/rxe_links --gtest_also_run_disabled_tests --gtest_filter="*WithoutModules*" || status=1
  expect "^anyrdma: The kernel.s module rdma_rxe is missing" $anyrdma rxe add rxe0 veth0
  exit $status'
