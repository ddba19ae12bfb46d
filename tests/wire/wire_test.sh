#!/usr/bin/env bash
# The simulator's captures and traces, and the real captures, against tshark.
set -euo pipefail
for program in tshark python3; do
  command -v "$program" >/dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
decode=tests/wire/decode

echo "Simulated runs: at least 45 packets, 1900 fields and 560 fields of the trace."
"$decode" --run "$work"
python3 tests/wire/compare.py "$decode" 45 1900 560 "$work"/*.pcap

echo "Captures of Linux's Soft-RoCE: at least 560 packets and 11500 fields."
python3 tests/wire/compare.py "$decode" 560 11500 0 tests/data/captures/*.pcap
