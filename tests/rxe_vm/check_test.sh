#!/usr/bin/env bash
# `anyrdma run --transport ucma --check` on a real device: mistakes are found there too, and again from the recordings.
set -uo pipefail
. tests/rxe_vm/lib.sh

in_machine --cpus 2 -- bash -c '
  . tests/recording/run_check.sh
  address=10.9.0.1
  on=(--transport ucma)
  of_device="not judged: the work requests of .*: its device is not anyrdma.s"
  pair_in_one none 0
  says "^anyrdma: $of_device"
  says_not "$finding"
  pair_in_one twice 1
  says "^misuse: mistakes\[[0-9]+\]: rdma_ack_cm_event: id 1: ADDR_RESOLVED status 0 was acknowledged already"
  pair_in_two none
  ends 0 "$anyrdma" check "$work/records"
  says "^$of_device"
  says_not "$finding"
  judges_altered legality "client#1: DISCONNECTED although it is address resolved"
  judges_altered ledger "client#1: an event was acknowledged that was not fetched"
  judges_altered "private data" "server#.*: request on .*, but given was "
  judges_altered agreement "server#.*: its event on .*, but the peer sent "
  pair_in_two twice
  ends 1 "$anyrdma" check "$work/records"
  says "^misuse: client: rdma_ack_cm_event"
  says "^$of_device"
  says_not "no recording of its other end"
  [ "$failures" = 0 ]'
