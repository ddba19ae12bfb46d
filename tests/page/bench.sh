#!/usr/bin/env bash
# bench.sh ANYRDMA LONG_TALK: how large the page of 100,000 records is, how fast it opens, and how it scrolls.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
"$2" "$work/recording"
"$1" trace "$work/recording" --html "$work/page.html"
records=$("$1" trace "$work/recording" --json | grep -c '^{"n":')
printf '%s records: recording %s bytes; ' "$records" "$(stat -c %s "$work/recording")"
python3 "$here/look.py" "$work/page.html"
