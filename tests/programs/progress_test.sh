#!/usr/bin/env bash
# Long work shows itself, on a terminal and in a log.
set -euo pipefail
. tests/programs/skip.sh
command -v python3 >/dev/null || skip_all "python3 is not installed"
unset TEST_SHARD_INDEX TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE
export PYTHONDONTWRITEBYTECODE=1
python3 tests/programs/progress_test.py tools/bin/anyrdma tests/soak/soak.sh
