// Writes the files of another system's /sys and /dev below a directory.
#pragma once

#include <map>
#include <string>

namespace anyrdma::sim {

/// Writes what is in `files` (verbs::nodes::Files) by its path below `directory`, which need not be
/// there. A node is a link to /dev/null: what programs may do with them, they may do with this.
/// False: not all could be written.
[[nodiscard]] bool write_tree(const std::string& directory,
                              const std::map<std::string, std::string>& files);

}  // namespace anyrdma::sim
