// Lists the actions of faults whose effect can end after a time, and the actions that end such an
// effect.
#pragma once

#include <optional>
#include <string>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// Whether the effect of an action can end after a time, as in "crash s1 for 300ms".
[[nodiscard]] bool has_end(const FaultAction& action);

/// Returns the action that ends the effect of an action: "restart s1" for "crash s1". Nothing: the
/// effect has no end, or the end depends on the state before, as for "slow".
[[nodiscard]] std::optional<FaultAction> ending_of(const FaultAction& action);

/// Returns why the fault cannot have the duration that it has. Empty: it can.
[[nodiscard]] std::string lasting_problem(const Fault& fault);

}  // namespace anyrdma::fault
