// Finds a program to run with the drop-in libraries, and checks whether the dynamic loader would
// use them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "verbs/result.h"

namespace anyrdma::sim {

/// Returns the file that execvp(3) would run for `name` with this search path. ENOENT: no such
/// file; EACCES: the file is a directory or may not be executed.
[[nodiscard]] verbs::Result<std::string> find_program(const std::string& name,
                                                      std::string_view search_path);

/// Returns why the dynamic loader will not use the drop-in libraries for a program (for example, a
/// static one), as the end of the sentence "it is ...". nullopt: it will, or that cannot be
/// determined (scripts).
[[nodiscard]] std::optional<std::string> why_not_served(const std::string& path);

}  // namespace anyrdma::sim
