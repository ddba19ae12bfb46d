// Selects the instrumented blocks of programs (sim/points/coverage.h) that are scheduling points.
#pragma once

#include <cstdint>

#include "sim/programs/process/thread.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim::programs {

/// Chooses how many blocks run until the next scheduling point. At first each block is one; later
/// they become rarer, so that a run of any length has some thousands. The number depends on the
/// seed and on the number of points so far, not on the schedule: a schedule that repeats the
/// choices of another run has the same points.
class GuardPoints {
 public:
  /// `random` outlives it.
  explicit GuardPoints(RandomStream& random) : random_(random) {}

  /// At least 1.
  [[nodiscard]] std::uint64_t next();

 private:
  RandomStream& random_;
  std::uint64_t points_ = 0;
};

/// Handles the call (kGuardCall) that a thread makes when it has reached an instrumented block that
/// is a scheduling point.
[[nodiscard]] Outcome on_guard(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
