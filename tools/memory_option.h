// `--memory PROFILE` of several commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/memory.h"

namespace anyrdma::tools {

/// Returns an error sentence that lists the memory profiles, for a name that is not among them.
[[nodiscard]] std::string no_such_memory(std::string_view name);

/// Sets the memory profile named by the option. An empty option, or the present profile, changes
/// nothing. Returns false, after an error message, if there is no such profile.
[[nodiscard]] bool take_memory(const std::string& option, sim::Memory& memory);

}  // namespace anyrdma::tools
