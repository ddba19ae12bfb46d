// Handles the marks of programs (sim/points/marks.h).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Handles the call of a mark (kMarkCall) in a program: the program reports a situation of the run,
/// or a condition that must hold. A false condition is a finding (a reported problem).
[[nodiscard]] Outcome on_mark(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
