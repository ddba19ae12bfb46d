// Where the dynamic linker tells debuggers that it has loaded or unloaded libraries. Source:
// <link.h>, elf(5).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {

/// Returns `r_debug.r_brk` of the thread's program. nullopt: the program is static, or its dynamic
/// linker has not begun.
[[nodiscard]] std::optional<std::uint64_t> linker_breakpoint_of(const Tracee& tracee);

}  // namespace anyrdma::sim::tracee
