// How the test of an oracle tells how many runs it made, and what they found.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/explore/explore.h"

namespace anyrdma::planted {

void judge(std::uint64_t runs, const std::optional<sim::Failure>& failure);

/// Of one run.
void judge(const sim::Outcome& outcome);

/// The same, which tells of each run that it begins: with a bug on, any may be the process's last.
[[nodiscard]] sim::Scenario counted(sim::Scenario scenario);

/// Of samples. Without a bug each fault of the menu has to have fired in one of them.
void judge_samples(const sim::Scenario& scenario, const sim::SampleOptions& options);

}  // namespace anyrdma::planted
