// Whether what a fault names is there.
#pragma once

#include <string>

#include "sim/fault_plan.h"

namespace anyrdma::sim {

class World;

/// "no host 'sever'"; empty: all is there. A device that was removed counts as there.
[[nodiscard]] std::string problem_with_names(const World& world, const Fault& fault);

}  // namespace anyrdma::sim
