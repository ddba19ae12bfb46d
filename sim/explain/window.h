// The instants at which a fault makes a run fail.
#pragma once

#include <cstddef>
#include <optional>

#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// The run fails if the fault happens from `first` to `last`. At `before`, which is earlier, and at
/// `after`, which is later, it passes. nullopt: no such instant was found.
struct Window {
  verbs::Duration first{};
  verbs::Duration last{};
  std::optional<verbs::Duration> before{};
  std::optional<verbs::Duration> after{};
};

/// Whether the fault happens at a fixed instant, so that it has a window.
[[nodiscard]] bool has_instant(const Fault& fault);

/// Bisects the instants before and after that of a fault of the trial, which fails. `end`: the end
/// of the run without the fault. The instants that are found differ by a few thousandths of the
/// distance to 0 or to `end`. nullopt: the search is over.
[[nodiscard]] std::optional<Window> find_window(const Trial& failing, std::size_t fault,
                                                verbs::Duration end, const Judge& judge);

}  // namespace anyrdma::sim::explain
