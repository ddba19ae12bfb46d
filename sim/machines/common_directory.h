// Directories that are not each simulated host's own, by their paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace anyrdma::sim {

/// Returns the path of a directory that hosts share (`keeps` false) or that is the machine's
/// (`keeps` true), without "." and without a slash at its end. nullopt: the directory cannot be
/// used, and `problem` is a sentence without its full stop. A shared directory below /tmp, /dev/shm
/// or /run need not exist. Any thread.
[[nodiscard]] std::optional<std::string> common_directory(std::string_view path, bool keeps,
                                                          std::string& problem);

}  // namespace anyrdma::sim
