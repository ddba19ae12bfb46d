#!/usr/bin/env bash
# The benchmark of a long run's page, with a short one: it measures something, and nobody complains.
set -uo pipefail
. tests/programs/skip.sh
for program in chromium python3; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
short=$(mktemp)
trap 'rm -f "$short"' EXIT
printf '#!/bin/sh\nexec %s "$1" 3\n' "$PWD/tests/page/long_talk" >"$short"
chmod +x "$short"
said=$(tests/page/bench.sh tools/anyrdma "$short" 2>&1) || { echo "FAILED: $said"; exit 1; }
echo "$said"
grep -qE '^[0-9]{4} records: recording [0-9]+ bytes; [0-9.]+ MB, opens in [0-9.]+ s; two frames of scrolling take [0-9]+ ms, at most [0-9]+ ms$' \
  <<<"$said" || { echo "FAILED: it says something else"; exit 1; }
[ "$(wc -l <<<"$said")" = 1 ] || { echo "FAILED: the page complains"; exit 1; }
