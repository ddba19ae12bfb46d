// Finds a program to run with the drop-in libraries (replacements of libibverbs and librdmacm), and
// checks whether the dynamic loader would use them. Says why a program cannot be started.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "verbs/result.h"

namespace anyrdma::sim {

/// Returns the path of the file that execvp(3) would run for `name` with this search path. ENOENT:
/// no such file; EACCES: the file is a directory or may not be executed.
[[nodiscard]] verbs::Result<std::string> find_program(const std::string& name,
                                                      std::string_view search_path);

/// Returns the sentence for an error of find_program(), with the remedy.
[[nodiscard]] std::string why_not_found(const std::string& name, const std::error_code& error);

/// Returns the sentence that says why the system did not start a program on a simulated host, with
/// the remedy.
[[nodiscard]] std::string why_not_started(const std::string& path, const std::error_code& error);

/// Returns why the dynamic loader will not use the drop-in libraries for a program (for example, a
/// static one), as the end of the sentence "it is ...". nullopt: the loader will use them, or the
/// function cannot tell, as for scripts.
[[nodiscard]] std::optional<std::string> why_not_served(const std::string& path);

}  // namespace anyrdma::sim
