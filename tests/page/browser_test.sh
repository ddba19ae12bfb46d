#!/usr/bin/env bash
# The page of a run, in a real browser.
set -euo pipefail
. tests/programs/skip.sh
for program in chromium python3; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
export PYTHONDONTWRITEBYTECODE=1
python3 tests/page/browser_test.py page/make
