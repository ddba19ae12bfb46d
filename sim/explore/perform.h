// Runs a scenario once and collects its reports.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "sim/explore/explore.h"

namespace anyrdma::sim {

/// The beginning of a problem's text if the problem occurred only when the same trial ran a second
/// time.
inline constexpr std::string_view kMood = "the same trial went well before";

/// Runs a trial once. The outcome contains the reports of its programs and checkers, and the
/// coverage if `covers` is true.
[[nodiscard]] Outcome perform(const Scenario& scenario, const Trial& trial, bool covers = false);

/// Runs a trial twice and compares both runs, because only a deterministic trial can be replayed
/// and shrunk. If the first run fails, the function returns its outcome without a second run.
[[nodiscard]] Outcome perform_twice(const Scenario& scenario, const Trial& trial,
                                    bool covers = false);

/// Returns the outcome of a run whose process crashed or was killed. `death`: the cause, as text.
[[nodiscard]] Outcome outcome_of_death(const std::string& death);

}  // namespace anyrdma::sim
