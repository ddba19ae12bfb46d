#!/usr/bin/env bash
# A dma-buf on simulated hosts (exported.c): a peer writes to it until its exporter takes the memory away.
. tests/simulated/lib.sh

exported=$PWD/tests/simulated/exported

case_peers_write_to_it_until_it_is_revoked() {
  printf '%s\n' 'host server 10.0.0.1' 'host client 10.0.0.2' "on server $exported" "on client $exported 10.0.0.1" \
    >"$work/scenario.txt"
  same_runs "$work/scenario.txt"
  grep -q 'server/exported: the exporter has: a letter' "$work/first.log" || fail "$(cat "$work/first.log")"
  grep -q 'client/exported: afterwards: remote access error' "$work/first.log" || fail "$(cat "$work/first.log")"
}

run_cases
