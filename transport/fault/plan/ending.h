// How what a fault does ends.
#pragma once

#include <optional>
#include <string>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// Whether the action's effect can end after a time: "crash s1 for 300ms".
[[nodiscard]] bool has_end(const FaultAction& action);

/// The action that ends this one's effect: "restart s1" for "crash s1". Nothing: the effect has no
/// end, or its end depends on the state before ("slow").
[[nodiscard]] std::optional<FaultAction> ending_of(const FaultAction& action);

/// Why the fault cannot have this duration; empty: it can.
[[nodiscard]] std::string lasting_problem(const Fault& fault);

}  // namespace anyrdma::fault
