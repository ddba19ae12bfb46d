#include "sim/programs/syscalls/guard_points.h"

#include <algorithm>

#include "sim/coverage.h"
#include "sim/findings.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {

std::uint64_t GuardPoints::next() {
  constexpr std::uint64_t kPointsPerDoubling = 256;
  constexpr std::uint64_t kDoublingsMax = 20;
  const std::uint64_t doublings = std::min(points_++ / kPointsPerDoubling, kDoublingsMax);
  return 1 + random_.below(std::uint64_t{1} << doublings);
}

Outcome on_guard(Thread& thread, const Call& call) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // blocks are counted from 1
  Supervisor& supervisor = thread.supervisor();
  if (Coverage* const coverage = coverage_of_run())
    coverage->add(call.arguments[0] * kSpread >> 32);
  if (!supervisor.world().scheduler().chooses()) return Outcome::answered(0);
  return Outcome::answered(static_cast<long>(supervisor.guard_points().next()));
}

}  // namespace anyrdma::sim::programs
