#!/usr/bin/env bash
# Pages of the demo's runs and of exhibits, in a real browser.
set -uo pipefail
. tests/programs/skip.sh
for program in chromium python3 rping ibv_rc_pingpong; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/anyrdma-pages.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # the demo steps down to another user
unset TEST_TOTAL_SHARDS TEST_SHARD_INDEX TEST_UNDECLARED_OUTPUTS_DIR ANYRDMA_SEED ANYRDMA_RUNS

# The demo runs what `./dev demo` leaves in bin.
mkdir -p "$work/bin/examples" "$work/examples"
cp -rL tools/bin/. "$work/bin"
cp -L examples/seeded_run "$work/bin/examples"
cp -L examples/demo.sh "$work/examples"
"$work/examples/demo.sh" --record "$work/recordings" >"$work/demo.log" 2>&1 || {
  grep -q "may not be traced" "$work/demo.log" && skip_all "processes may not be traced here"
  cat "$work/demo.log"
  exit 1
}
for test in teardown ordering; do
  ANYRDMA_RECORD=$work/recordings "tests/museum/${test}_test" \
    --gtest_filter=Teardown.AnError*:Teardown.AConnectionThat*:Ordering.Disconnected*:Ordering.UnreachableComes*:Ordering.EventsLeave* \
    >"$work/museum.log" 2>&1 || { cat "$work/museum.log"; exit 1; }
done
XML_OUTPUT_FILE='' python3 tests/page/scenarios_test.py tools/bin/anyrdma "$work/recordings"
