// Files of text that users write: scenarios and fault plans.
#pragma once

#include <cstddef>
#include <string>

#include "verbs/why_not.h"

namespace anyrdma::tools {

/// More than people and generators write. A device such as /dev/zero has no end.
inline constexpr std::size_t kTextFileMax = std::size_t{16} << 20;

/// Reads a whole file. `what` is its name in the sentence of an error: "the scenario file".
[[nodiscard]] verbs::OrWhyNot<std::string> read_text_file(const std::string& what,
                                                          const std::string& path);

}  // namespace anyrdma::tools
