// Where all threads of programs stand, for who looks for the cause of a hang.
#pragma once

#include <string>

namespace anyrdma::sim::programs {

class Sandbox;

/// Lines: each thread that has not ended by its name, and below it its stack. Empty: there is none.
/// Not while one of them runs.
[[nodiscard]] std::string stack_report(const Sandbox& sandbox);

}  // namespace anyrdma::sim::programs
