// A program that is to be started on our libraries: where it is, and whether it can be served.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "verbs/result.h"

namespace anyrdma::sim {

/// The file that execvp(3) would run for `name` with this search path. ENOENT: there is none;
/// EACCES: there is one, but it may not be executed (or is a directory).
[[nodiscard]] verbs::Result<std::string> find_program(const std::string& name,
                                                      std::string_view search_path);

/// Why the loader will not take our libraries for this program, as the end of the sentence "it is
/// ..."; nothing when it will, or when that cannot be seen (scripts).
[[nodiscard]] std::optional<std::string> why_not_served(const std::string& path);

}  // namespace anyrdma::sim
