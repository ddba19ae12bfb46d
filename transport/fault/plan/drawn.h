// Draws the random parts of a fault: an instant in a time window, and a duration.
#pragma once

#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// Whether a fault has a random instant or a random duration, as in "between 100ms and 2s: crash s1
/// for 10ms to 5s".
[[nodiscard]] bool leaves_open(const Fault& fault);

/// Returns the fault with drawn values in place of its random parts: "at 1.234567s: crash s1 for
/// 300ms". Equal random numbers give equal results with every compiler. The instant is uniformly
/// distributed in its window. For the duration, each doubling is equally probable. Both are rounded
/// to a few digits. A fault without random parts draws no numbers.
[[nodiscard]] Fault resolved(const Fault& fault, verbs::Random& dice);

}  // namespace anyrdma::fault
