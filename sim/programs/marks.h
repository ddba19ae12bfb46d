// Handles the marks of programs (sim/points/marks.h).
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// A mark (kMarkCall): a situation of the run, or a condition that does not hold, which is a
/// finding.
[[nodiscard]] Outcome on_mark(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
