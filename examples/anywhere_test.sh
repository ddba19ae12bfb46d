#!/usr/bin/env bash
# anywhere_test.sh TRANSPORT...: the example says the same on each.
set -uo pipefail
failures=0

for transport in "$@"; do
  said=$(timeout 300 examples/anywhere --transport "$transport" 2>&1)
  status=$?
  diff examples/anywhere.txt - <<<"$(sed 1d <<<"$said")" >/dev/null && [ $status = 0 ] && continue
  printf 'FAILED: over %s it exited with %d and said:\n%s\n' "$transport" "$status" "$said"
  failures=$((failures + 1))
done
exit "$((failures > 0))"
