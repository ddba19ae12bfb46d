// Checks that the objects that a fault names exist.
#pragma once

#include <string>

#include "sim/fault_plan.h"

namespace anyrdma::sim {

class World;

/// Checks that the hosts, devices and interfaces that a fault names exist. Returns an error such as
/// "no host 'sever'"; empty: all exist. A removed device counts as existing.
[[nodiscard]] std::string problem_with_names(const World& world, const Fault& fault);

}  // namespace anyrdma::sim
