// Draws the trial of a run.
#pragma once

#include <cstddef>

#include "sim/explore/search.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// A run of the seed with that number, from the first: with some of the menu's faults, in the order
/// of the menu, and one of the schedules.
[[nodiscard]] Run draw_run(const ExploreOptions& options, std::uint64_t number, RandomStream& dice);

/// That of the menu's, with its instant and its duration drawn.
[[nodiscard]] Fault draw_fault(const ExploreOptions& options, std::size_t which,
                               RandomStream& dice);

/// Gives a run one more of the menu's faults, of any kind.
void add_fault(const ExploreOptions& options, RandomStream& dice, Run& run);

}  // namespace anyrdma::sim
