#!/usr/bin/env bash
# docs/planted.md is what the data say; with --write: writes it. And the tool refuses wrong data.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
if [[ "${1:-}" == --write ]]; then
  cd "$BUILD_WORKSPACE_DIRECTORY"
  python3 tests/planted/plant.py --page tests/planted/bugs/*.txt > docs/planted.md
  exit
fi
python3 tests/planted/plant.py --page tests/planted/bugs/*.txt | diff docs/planted.md - ||
  { echo "FAILED: bazel run //tests/planted:page_test -- --write"; exit 1; }
python3 tests/planted/plant_test.py
