#!/usr/bin/env bash
# Every command that a page shows is executed, or it is said where that happens or why it cannot be.
set -euo pipefail
. tests/programs/skip.sh
export PYTHONDONTWRITEBYTECODE=1
for program in rping ibv_devinfo; do command -v $program >/dev/null || skip_all "$program is not installed"; done
export BIN=$PWD/tools/bin AWAIT=$PWD/tests/programs/await_listener
python3 tests/docs/pages_test.py
# Tutorials are followed as a whole: tutorials_test.
mapfile -t pages < <(ls docs/*.md docs/*/*.md | grep -v '^docs/tutorials/')
python3 tests/docs/commands.py tests/docs/commands.txt README.md CONTRIBUTING.md "${pages[@]}"
