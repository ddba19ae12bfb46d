#!/usr/bin/env bash
# What `two_devices` sees of a simulated host whose devices and addresses faults change, against two_devices.txt: what
# it saw of Linux with two rxe links.
set -uo pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-two-devices.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/plan" <<'PLAN'
at 500ms: add-address here rail1 10.9.6.1/24
at 1500ms: drop-address here rail1 10.9.5.1
at 2500ms: add-address here rail1 10.9.7.1/24
at 3500ms: add-address here veth0 10.9.5.1/24
at 4500ms: port-down here rxe1
at 4500ms: cut-rail here rail1
at 6s: mend-rail here rail1
at 6s: port-up here rxe1
PLAN
timeout 300 tools/bin/anyrdma sim --host here=veth0/rxe0=10.9.0.1/24,rail1/rxe1=10.9.5.1/24 --faults "$work/plan" \
  --output "$work/output" --on here "$PWD/tests/rxe_vm/two_devices 'sleep 1 #'" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
diff tests/rxe_vm/two_devices.txt "$work/output/here.two_devices.out" ||
  { echo "FAILED: (< Linux, > the simulated host)"; find "$work/output"; exit 1; }
echo PASSED
