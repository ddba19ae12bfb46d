// Runs a scenario once and collects its reports.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "sim/explore/explore.h"

namespace anyrdma::sim {

/// The beginning of a problem that occurred only in the second run of a trial.
inline constexpr std::string_view kMood = "the same trial went well before";

/// Runs a trial and returns the reports of its programs and checkers. `covers`: with coverage.
[[nodiscard]] Outcome perform(const Scenario& scenario, const Trial& trial, bool covers = false);

/// Runs a trial twice, because a trial must be reproducible to be replayed or reduced. A failing
/// run is returned unchanged.
[[nodiscard]] Outcome perform_twice(const Scenario& scenario, const Trial& trial,
                                    bool covers = false);

/// The outcome of a run whose process has died, or was killed.
[[nodiscard]] Outcome outcome_of_death(const std::string& death);

}  // namespace anyrdma::sim
