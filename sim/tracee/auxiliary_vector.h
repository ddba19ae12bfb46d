// The auxiliary vector: the kernel's data for a new program. Source: getauxval(3), vdso(7).
#pragma once

#include <array>
#include <cstdint>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {

/// At StopKind::kProgram. The program finds no vDSO, so that whatever it asks the clock is a system
/// call, and these bytes as the random ones. False: its stack is not as expected.
[[nodiscard]] bool tame(const Tracee& tracee, const std::array<std::byte, 16>& random);

}  // namespace anyrdma::sim::tracee
