// One run of a scenario, with all that is heard of it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "sim/explore/explore.h"

namespace anyrdma::sim {

/// How a problem begins that was there only when a trial was run the second time.
inline constexpr std::string_view kMood = "the same trial went well before";

/// A run, with what its programs and checkers said of it. `covers`: and with what it came to.
[[nodiscard]] Outcome perform(const Scenario& scenario, const Trial& trial, bool covers = false);

/// The same twice: what is replayed or shrunk has to come again. A run that goes wrong is told as
/// it is.
[[nodiscard]] Outcome perform_twice(const Scenario& scenario, const Trial& trial,
                                    bool covers = false);

/// The outcome of a run whose process has died, or was killed.
[[nodiscard]] Outcome outcome_of_death(const std::string& death);

}  // namespace anyrdma::sim
