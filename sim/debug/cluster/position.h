// A moment of a run, in terms that are the same in each run of one trial.
#pragma once

#include <cstdint>
#include <set>
#include <variant>
#include <vector>

#include "sim/debug/protocol/request.h"

namespace anyrdma::sim::debug {

/// So many instructions further.
struct Steps {
  std::uint64_t count = 0;
};
/// Until the thread next comes to an address.
struct UntilAddress {
  std::uint64_t address = 0;
};
/// Until one of the watchpoints next triggers.
struct UntilWatched {
  std::set<Point> points;
};
/// Until it has stopped for so many signals.
struct UntilSignals {
  std::uint64_t count = 0;
};
using Move = std::variant<Steps, UntilAddress, UntilWatched, UntilSignals>;

/// Where a thread is: after so many of its system calls that stopped, and these moves.
struct Position {
  ThreadId thread{};
  std::uint64_t calls = 0;
  std::vector<Move> moves{};
};

}  // namespace anyrdma::sim::debug
