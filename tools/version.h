// What `anyrdma --version` says.
#pragma once

#include <string>

namespace anyrdma::tools {

/// One line for people and scripts: the name and the version first, the commit where it is known.
[[nodiscard]] std::string version_line();

}  // namespace anyrdma::tools
