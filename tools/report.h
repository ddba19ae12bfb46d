// Prints the results of an exploration on stdout, and writes them to a file for `anyrdma merge`.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/results.h"
#include "tools/ci_report.h"
#include "tools/exit.h"

namespace anyrdma::tools {

/// Prints the results. `parts`: the number of shards whose results were merged; 0: the search was
/// not divided.
void print(const sim::Results& results, std::size_t parts = 0);

/// Creates the directory if it does not exist. Returns false, after an error message, if no file
/// can be written in it.
[[nodiscard]] bool prepare_directory(const std::string& directory);
/// Writes the results to the file NAME.SHARD-of-SHARDS.results, completely or not at all. Returns
/// false, after an error message, if that fails.
[[nodiscard]] bool write(const sim::Results& results, const std::string& directory);

/// The results of a search, for those who did not see it. `command`: "anyrdma explore".
/// `recording`: that of the first failure; empty: there is none.
[[nodiscard]] ScenarioReport report_of(const sim::Results& results, const std::string& command,
                                       const std::string& recording);

struct MergeCommand {
  std::vector<std::string> paths;  ///< files, and directories of them
  std::string junit;               ///< file for a JUnit report; empty: none
  bool partial = false;            ///< do with what is there
  bool must_see = false;           ///< a situation that never occurred is a failure, too
};
/// Merges results of shards and prints one report for each scenario. Returns kFailed if a run
/// failed, kUsage after an error message on stderr.
[[nodiscard]] Exit merge(const MergeCommand& command);

}  // namespace anyrdma::tools
