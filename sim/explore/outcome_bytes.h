// An outcome on its way between two processes of one program.
#pragma once

#include <string>
#include <string_view>

#include "sim/explore/trial.h"

namespace anyrdma::sim {

/// All of an outcome. Its faults are not only the trial's: a scenario may have some of its own.
[[nodiscard]] std::string to_bytes(const Outcome& outcome);
/// Precondition: to_bytes made them.
[[nodiscard]] Outcome outcome_from(std::string_view bytes);

}  // namespace anyrdma::sim
