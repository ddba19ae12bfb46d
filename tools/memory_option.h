// `--memory PROFILE` of several commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/memory.h"

namespace anyrdma::tools {

/// A sentence with the names of the profiles, to say of one that is not among them.
[[nodiscard]] std::string no_such_memory(std::string_view name);

/// Makes memory what the option says; an empty one changes nothing, nor does the profile that it
/// has. False: there is no such profile, which has been said.
[[nodiscard]] bool take_memory(const std::string& option, sim::Memory& memory);

}  // namespace anyrdma::tools
