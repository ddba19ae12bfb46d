// Directories below /dev/shm that the user has named. A simulated host has a /dev/shm of its own,
// and must see these nevertheless: TMPDIR may be there, with programs, data and libraries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim {

/// Returns the directories directly below /dev/shm whose paths, or paths below them, occur in
/// `text`: a command, or the value of an environment variable. Only existing directories. Any
/// thread.
[[nodiscard]] std::vector<std::string> named_directories(std::string_view text);

/// Returns those that the environment of this process and the path of its executable name.
[[nodiscard]] std::vector<std::string> directories_named_around();

}  // namespace anyrdma::sim
