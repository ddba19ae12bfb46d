// `anyrdma run`: starts an unmodified program on the drop-in libraries.
#pragma once

#include <string>
#include <vector>

#include "tools/exit.h"

namespace anyrdma::tools {

struct RunOptions {
  std::string transport;             ///< empty: ANYRDMA_TRANSPORT as it is
  std::string fabric;                ///< empty: ANYRDMA_FABRIC as it is, else "default"
  std::vector<std::string> command;  ///< the program and its arguments
};

/// Replaces this process by the program, with LD_LIBRARY_PATH, ANYRDMA_FABRIC and, if a transport
/// was named, ANYRDMA_TRANSPORT set. Returns only when that fails, after a sentence on stderr that
/// names the cause and the remedy.
[[nodiscard]] Exit run(const RunOptions& options);

}  // namespace anyrdma::tools
