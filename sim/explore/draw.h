// Draws the trial of a run (its seed, faults and schedule) at random.
#pragma once

#include <cstddef>

#include "sim/explore/search.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// Draws the run with the given number at random: its seed is ExploreOptions::first_seed +
/// `number`. Its faults are a random selection of ExploreOptions::menu (the faults that a run may
/// get), in that order, and its schedule is one of ExploreOptions::schedules.
[[nodiscard]] Run draw_run(const ExploreOptions& options, std::uint64_t number, RandomStream& dice);

/// Draws the details of the fault with the index `which` in ExploreOptions::menu, and returns it:
/// its instant and its duration are random where the menu's fault does not state them.
[[nodiscard]] Fault draw_fault(const ExploreOptions& options, std::size_t which,
                               RandomStream& dice);

/// Draws one more fault at random, of any kind that ExploreOptions::menu contains, and adds it to
/// `run`.
void add_fault(const ExploreOptions& options, RandomStream& dice, Run& run);

}  // namespace anyrdma::sim
