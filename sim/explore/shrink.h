// Smaller trials that still go wrong, with how they did.
#pragma once

#include "sim/explore/explore.h"

namespace anyrdma::sim {

struct Shrunk {
  Trial trial;
  Outcome outcome;  ///< of a run of that trial
};

/// Like shrink() of explore.h, for a trial that has run already. Precondition: `outcome` is the
/// outcome of `trial`, and has a problem.
[[nodiscard]] Shrunk shrink(const Scenario& scenario, const Trial& trial, const Outcome& outcome,
                            const ShrinkOptions& options);

}  // namespace anyrdma::sim
