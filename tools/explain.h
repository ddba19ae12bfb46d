// `anyrdma explain`: why a trial of a scenario file fails.
#pragma once

#include <string>

#include "tools/exit.h"

namespace anyrdma::tools {

struct ExplainCommand {
  std::string scenario;   ///< a scenario file
  std::string trial;      ///< as sim/explore/trial.h has it; what explore printed
  std::string memory;     ///< a profile; empty: the trial's
  unsigned jobs = 0;      ///< 0: one per core
  std::string budget;     ///< "60s"; empty: a minute
  bool buffered = false;  ///< standard output of programs is, as for a pipe
  bool json = false;
  std::string html;  ///< a file for the page of both runs; empty: none
};
/// Prints an explanation on stdout. Returns kFailed if the trial does not fail, or if the budget
/// ended the search; kUsage after an error message on stderr.
[[nodiscard]] Exit explain(const ExplainCommand& command);

}  // namespace anyrdma::tools
