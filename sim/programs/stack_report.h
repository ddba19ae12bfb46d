// The stacks of all threads of programs, for reports of hangs.
#pragma once

#include <string>

namespace anyrdma::sim::programs {

class Sandbox;

/// Lines: each thread that has not ended by its name, and below it its stack. Empty: there is none.
/// Not while one of them runs.
[[nodiscard]] std::string stack_report(const Sandbox& sandbox);

}  // namespace anyrdma::sim::programs
