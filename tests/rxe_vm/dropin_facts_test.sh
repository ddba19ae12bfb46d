#!/usr/bin/env bash
# What `facts` finds out about the drop-in, against facts.txt: what it found out about Linux.
set -uo pipefail
. tests/programs/skip.sh

# Loopback is a wildcard to the connection manager, and would give other answers.
address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 -E '^[0-9.]+$')
[ -n "$address" ] || skip_all "no IPv4 address but loopback here"

timeout 300 tools/bin/anyrdma run --fabric "facts-$$" -- tests/rxe_vm/facts "$address" |
  diff tests/rxe_vm/facts.txt - || { echo "FAILED: (< Linux, > the drop-in)"; exit 1; }
echo PASSED
