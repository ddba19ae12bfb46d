// Writes copies of a simulated host's files in /sys and /dev to a directory.
#pragma once

#include <map>
#include <string>

namespace anyrdma::sim {

/// Writes the files in `files` (verbs::nodes::Files: content by path) below `directory`, which is
/// created if missing. A device node becomes a link to /dev/null, which programs can open. Returns
/// false if a file could not be written.
[[nodiscard]] bool write_tree(const std::string& directory,
                              const std::map<std::string, std::string>& files);

}  // namespace anyrdma::sim
