#!/usr/bin/env bash
# From failing tests' pages to their causes, in a real browser.
set -uo pipefail
. tests/programs/skip.sh
for program in chromium python3; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-mistakes.XXXXXX")
trap 'rm -rf "$work"' EXIT
TEST_UNDECLARED_OUTPUTS_DIR=$work XML_OUTPUT_FILE='' tests/page/mistakes >"$work/log" 2>&1 && { echo "FAILED: no test fails"; exit 1; }
python3 tests/page/mistakes_test.py "$work" || { cat "$work/log"; exit 1; }
