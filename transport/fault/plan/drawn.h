// Draws the random parts of a fault from a seed: an instant of a time window, a duration.
#pragma once

#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// Whether a fault has a random instant or duration: "between 100ms and 2s: crash s1 for 10ms to
/// 5s".
[[nodiscard]] bool leaves_open(const Fault& fault);

/// Replaces the random parts of a fault by drawn values: "at 1.234567s: crash s1 for 300ms". Equal
/// random numbers give equal results with every compiler. An instant is uniform in its window; a
/// duration is uniform in its order of magnitude. Both are rounded to a few digits. A fault without
/// random parts draws no numbers.
[[nodiscard]] Fault resolved(const Fault& fault, verbs::Random& dice);

}  // namespace anyrdma::fault
