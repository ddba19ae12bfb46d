#!/usr/bin/env bash
# The soak in small: the checker finds nothing, and finds what is wrong; a finding is told with its seed and log.
set -uo pipefail
logs=$(mktemp -d) failures=0
trap 'rm -rf "$logs"' EXIT

check() { # WHAT CONDITION...
  "${@:2}" && return
  echo "FAILED: $1"
  failures=$((failures + 1))
}

soak() { CHECKER_SECONDS=2 bash tests/soak/soak.sh --minutes 5 --busy 0 --logs "$logs" "$@"; }

soak --leg checker_calm --seed 1 --turns 1 >"$logs/out" 2>&1
status=$?
check 'a turn without a finding ends with 0' [ $status = 0 ]
check 'it says what it has done' grep -q '^soak: 1 turns in .* from seed 1 (checker_calm 1): 0 findings$' "$logs/out"
check 'the checker says what it has done' grep -qE '^seed 1: [1-9][0-9]* rounds, [1-9][0-9]* steps' "$logs/figures"
cat "$logs/out" "$logs/figures"

tools/bin/anyrdma run --fabric "soak-$$" -- tests/soak/soak_checker --calm --spoil --rounds 1 --seconds 60 >"$logs/out" 2>&1
status=$?
check 'the checker sees data that were not sent' [ $status = 1 ]
check 'it says which' grep -qE "^WRONG: seed 1, round 0, (server|client) .*the target's memory: [0-9]+ of" "$logs/out"

# --- a program that finds something --------------------------------------------------------------

mkdir "$logs/bin"
printf '#!/bin/sh\necho "WRONG: data"\nexit 1\n' >"$logs/bin/rping"
chmod +x "$logs/bin/rping"
PATH=$logs/bin:$PATH soak --leg rping --seed 7 --turns 1 >"$logs/out" 2>&1
status=$?
check 'a finding is told by the status' [ $status = 1 ]
check 'it is said how to repeat it' grep -q 'again: ./dev soak --leg rping --seed 7 --turns 1$' "$logs/out"
check 'its log stays' [ -s "$logs/rping-7.log" ]
check 'it is counted' grep -q '(rping 1): 1 findings$' "$logs/out"

[ "$failures" = 0 ] || { cat "$logs"/*.log "$logs/out"; exit 1; }
echo PASSED
