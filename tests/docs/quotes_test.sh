#!/usr/bin/env bash
# The code on a page is the code that is tested.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
python3 tests/docs/quotes.py README.md examples/simulated_test.cc
python3 tests/docs/quotes.py docs/async.md examples/async_callback.cc examples/async_coroutine.cc \
  examples/async_future.cc
python3 tests/docs/quotes.py docs/sim.md examples/simulated_test.cc examples/c_program.cc \
  cm/c_api/fiber_process_test.cc
python3 tests/docs/quotes.py docs/explore.md sim/explore/explore_test.cc
python3 tests/docs/quotes.py docs/testing.md tests/consumer/handshake_test.cc \
  tests/simulated/beside_fibers_test.cc
python3 tests/docs/quotes.py docs/tutorials/c-program.md tests/consumer/my_server.c
python3 tests/docs/quotes.py docs/tutorials/production.md tests/package/consumer/devices.c
