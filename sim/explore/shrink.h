// Finds smaller trials that still fail in the same way, and returns them with their outcomes.
#pragma once

#include "sim/explore/explore.h"

namespace anyrdma::sim {

struct Shrunk {
  Trial trial;
  Outcome outcome;  ///< of a run of that trial
};

/// Makes a trial that has run already smaller, like shrink() of explore.h. Precondition: `outcome`
/// is the outcome of `trial`, and has a problem.
[[nodiscard]] Shrunk shrink(const Scenario& scenario, const Trial& trial, const Outcome& outcome,
                            const ShrinkOptions& options);

}  // namespace anyrdma::sim
