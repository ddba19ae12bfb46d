#!/bin/bash
# Each twin of tests/finds runs clean in the order in which things become ready, and so does each program with a bug,
# except those whose comment says `fails: always`.
set -euo pipefail

python3 tests/finds/bench.py tools/bin/anyrdma tests/finds tests/finds --once \
  --shard "${TEST_SHARD_INDEX:-0}/${TEST_TOTAL_SHARDS:-1}"
