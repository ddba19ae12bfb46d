// Draws the trial of a run.
#pragma once

#include <cstddef>

#include "sim/explore/search.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// Returns the run with the given number, counted from ExploreOptions::first_seed: its seed, a
/// random selection of the menu's faults in the order of the menu, and one of the schedules.
[[nodiscard]] Run draw_run(const ExploreOptions& options, std::uint64_t number, RandomStream& dice);

/// Returns the fault with index `which` in the menu, with its instant and its duration drawn at
/// random where the menu leaves them open.
[[nodiscard]] Fault draw_fault(const ExploreOptions& options, std::size_t which,
                               RandomStream& dice);

/// Adds one more fault of the menu, of any kind, to a run.
void add_fault(const ExploreOptions& options, RandomStream& dice, Run& run);

}  // namespace anyrdma::sim
