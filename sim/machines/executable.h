// Finds a program to run with the drop-in libraries (replacements of libibverbs and librdmacm), and
// checks whether the dynamic loader would use them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "verbs/result.h"

namespace anyrdma::sim {

/// Returns the path of the file that execvp(3) would run for `name` with this search path. ENOENT:
/// no such file; EACCES: the file is a directory or may not be executed.
[[nodiscard]] verbs::Result<std::string> find_program(const std::string& name,
                                                      std::string_view search_path);

/// Returns why the dynamic loader will not use the drop-in libraries for a program (for example, a
/// static one), as the end of the sentence "it is ...". nullopt: the loader will use them, or the
/// function cannot tell, as for scripts.
[[nodiscard]] std::optional<std::string> why_not_served(const std::string& path);

}  // namespace anyrdma::sim
