// What an exploration has found, on stdout, and as a file for `anyrdma merge`.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/results.h"
#include "tools/exit.h"

namespace anyrdma::tools {

/// `parts`: how many it is the sum of; 0: it is of a run in one piece.
void print(const sim::Results& results, std::size_t parts = 0);

/// Makes the directory if there is none. False: nothing can be written there, which has been said.
[[nodiscard]] bool prepare_directory(const std::string& directory);
/// As NAME.SHARD-of-SHARDS.results, whole or not at all. False: it cannot be, which has been said.
[[nodiscard]] bool write(const sim::Results& results, const std::string& directory);

struct MergeCommand {
  std::vector<std::string> paths;  ///< files, and directories of them
  bool partial = false;            ///< do with what is there
  bool must_see = false;           ///< a situation that never occurred is a failure, too
};
/// Prints one report for each scenario. kFailed: a run went wrong; kUsage: after a sentence on
/// stderr.
[[nodiscard]] Exit merge(const MergeCommand& command);

}  // namespace anyrdma::tools
