// Ends of programs that a fault plan has caused: they are no failures.
#pragma once

#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim {
class Faults;
}

namespace anyrdma::tools {

/// Whether the program went down with its host, and had not ended by itself before.
[[nodiscard]] bool went_down(const sim::programs::Program& program);

/// Whether a fault has killed the program. `number`: which of its host's programs of that name it
/// is, from 1.
[[nodiscard]] bool killed_by_plan(const sim::Faults& faults, const sim::programs::Program& program,
                                  unsigned number);

}  // namespace anyrdma::tools
