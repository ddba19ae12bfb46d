// Checks that the objects that a fault names exist.
#pragma once

#include <string>

#include "sim/fault_plan.h"

namespace anyrdma::sim {

class World;

/// Returns "no host 'sever'", or empty if all exist. A removed device counts as existing.
[[nodiscard]] std::string problem_with_names(const World& world, const Fault& fault);

}  // namespace anyrdma::sim
