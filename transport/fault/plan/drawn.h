// Draws the random parts of a fault before it happens: an instant of a window, a duration.
#pragma once

#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// Whether there is such a thing: "between 100ms and 2s: crash s1 for 10ms to 5s".
[[nodiscard]] bool leaves_open(const Fault& fault);

/// The fault as it happens then, "at 1.234567s: crash s1 for 300ms": the same numbers give the same
/// fault, on every compiler. Each instant of the window is as likely as any other, and so is each
/// order of magnitude of what lasts; both are rounded to a few digits. One that leaves nothing open
/// draws nothing.
[[nodiscard]] Fault resolved(const Fault& fault, verbs::Random& dice);

}  // namespace anyrdma::fault
