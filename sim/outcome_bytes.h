// An outcome on its way between two processes of one program.
#pragma once

#include <string>
#include <string_view>

#include "sim/trial.h"

namespace anyrdma::sim {

/// All of an outcome but the faults themselves, which the reader has in the trial.
[[nodiscard]] std::string to_bytes(const Outcome& outcome);
/// Precondition: to_bytes made them, of an outcome of this trial.
[[nodiscard]] Outcome outcome_from(std::string_view bytes, const Trial& trial);

}  // namespace anyrdma::sim
