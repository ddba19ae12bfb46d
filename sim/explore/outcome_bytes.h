// Converts the outcome of a run to bytes and back, to send it between two processes of one program.
#pragma once

#include <string>
#include <string_view>

#include "sim/explore/trial.h"

namespace anyrdma::sim {

/// Converts an outcome to bytes, so that a forked process can send it to its parent. Its faults may
/// include faults that the scenario injected itself, beyond those of the trial.
[[nodiscard]] std::string to_bytes(const Outcome& outcome);
/// Precondition: to_bytes made them.
[[nodiscard]] Outcome outcome_from(std::string_view bytes);

}  // namespace anyrdma::sim
