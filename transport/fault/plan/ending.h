// How what a fault does ends.
#pragma once

#include <optional>
#include <string>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// Whether what the action does can end after a time: "crash s1 for 300ms".
[[nodiscard]] bool has_end(const FaultAction& action);

/// The action that ends what this one does: "restart s1" of "crash s1". Nothing: it has no end, or
/// one that depends on what was before ("slow").
[[nodiscard]] std::optional<FaultAction> ending_of(const FaultAction& action);

/// What is wrong with how long a fault lasts; empty: nothing.
[[nodiscard]] std::string lasting_problem(const Fault& fault);

}  // namespace anyrdma::fault
