#!/usr/bin/env bash
# The rules hold (rules_test) and the tree keeps them (tidy). Reads the work tree behind the runfiles.
set -euo pipefail
root=$(dirname "$(readlink -f WORKSPACE)")
cd "$root/tests/tidy"
export PYTHONDONTWRITEBYTECODE=1
python3 -m unittest -q rules_test
python3 tidy.py "$root"
