// The black-box oracles: the sample applications in a simulated world, under all checkers.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/explore/explore.h"

namespace anyrdma::planted {

/// How many clients, how often each asks, whether one more is sent away, and whether all must be
/// served although there is a plan.
struct Street {
  std::uint32_t clients = 2;
  int rounds = 2;
  bool unwelcome = true;
  bool harmless = false;
};

/// One run; every fault of the plan may stay away. Besides what the checkers and the application
/// say, a client that comes after everything is healed must be served. Without a plan, all must be.
[[nodiscard]] sim::Outcome run_street(const sim::Trial& trial, const Street& street);

/// One run of what the courier does not use, over raw queue pairs: atomics, windows,
/// deregistration, a shared receive queue. Only the checkers say what is wrong.
[[nodiscard]] sim::Outcome run_services(const sim::Trial& trial);

/// What `run` says, and as its problem besides what GoogleTest's assertions say meanwhile.
[[nodiscard]] sim::Outcome judged(const std::function<sim::Outcome()>& run);

}  // namespace anyrdma::planted
