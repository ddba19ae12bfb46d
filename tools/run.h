// `anyrdma run`: starts an unmodified program on the drop-in libraries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/choice.h"
#include "tools/exit.h"

namespace anyrdma::tools {

struct RunOptions {
  Choice choice;
  std::string faults;  ///< file with a fault plan; empty: ANYRDMA_FAULTS as it is
  std::string host;    ///< which of the plan's hosts; empty: the only one. Also what recordings
                       ///< call the program; empty: by its name and number
  std::string record;  ///< directory or file for recordings; empty: ANYRDMA_RECORD as it is
  bool check = false;  ///< judges what the processes recorded, at the end
  std::optional<std::uint64_t>
      seed;                          ///< of the plan's chances; none: ANYRDMA_SEED as it is, else 1
  bool strict = false;               ///< a planned fault that does not happen fails the program
  std::vector<std::string> command;  ///< the program and its arguments
};

/// Replaces this process by the program, with LD_LIBRARY_PATH and the variables of what was chosen
/// set. A device or plan that is wrong, or asks for what this transport cannot do, starts nothing.
/// Returns only when that fails, after a sentence on stderr that names the cause and the remedy.
///
/// With faults for this host, the program gets ANYRDMA_FAULTS and what belongs to it. With faults
/// or `check`, the program becomes a child of this process (tools/child.h). Once it has ended,
/// however it did, this process prints what came of the faults, and the findings. Then it ends
/// likewise: returns the program's exit status, or does not return from its signal. If the program
/// ended with 0 or because it was told to: Exit::kFailed if there are findings, else
/// Exit::kFaultMissed if `strict` and a planned fault did not happen.
[[nodiscard]] int run(const RunOptions& options);

}  // namespace anyrdma::tools
