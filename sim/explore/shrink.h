// Smaller trials that still go wrong, with how they did.
#pragma once

#include "sim/explore/explore.h"

namespace anyrdma::sim {

struct Shrunk {
  Trial trial;
  Outcome outcome;  ///< of a run of that trial
};

/// As shrink() of explore.h. Precondition: `outcome` is a run's of the trial, with a problem.
[[nodiscard]] Shrunk shrink(const Scenario& scenario, const Trial& trial, const Outcome& outcome,
                            const ShrinkOptions& options);

}  // namespace anyrdma::sim
