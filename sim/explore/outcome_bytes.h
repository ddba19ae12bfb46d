// An outcome on its way between two processes of one program.
#pragma once

#include <string>
#include <string_view>

#include "sim/explore/trial.h"

namespace anyrdma::sim {

/// A whole outcome as bytes. Its faults may include those of the scenario, beyond the trial's.
[[nodiscard]] std::string to_bytes(const Outcome& outcome);
/// Precondition: to_bytes made them.
[[nodiscard]] Outcome outcome_from(std::string_view bytes);

}  // namespace anyrdma::sim
