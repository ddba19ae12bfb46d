// The actions whose effect can end after a time, and the actions that end it.
#pragma once

#include <optional>
#include <string>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// Whether the effect of an action can end after a time: "crash s1 for 300ms".
[[nodiscard]] bool has_end(const FaultAction& action);

/// Returns the action that ends the effect: "restart s1" for "crash s1". Nothing: the effect has no
/// end, or its end depends on the state before ("slow").
[[nodiscard]] std::optional<FaultAction> ending_of(const FaultAction& action);

/// Returns why the fault cannot have its duration; empty: it can.
[[nodiscard]] std::string lasting_problem(const Fault& fault);

}  // namespace anyrdma::fault
