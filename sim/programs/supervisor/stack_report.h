// The stacks of all threads of programs, for reports of hangs.
#pragma once

#include <string>

namespace anyrdma::sim::programs {

class Sandbox;

/// Returns the stacks of all threads of programs that have not ended, as lines: the thread's name,
/// then its stack. Empty: there is no thread. Call it while no thread runs.
[[nodiscard]] std::string stack_report(const Sandbox& sandbox);

}  // namespace anyrdma::sim::programs
