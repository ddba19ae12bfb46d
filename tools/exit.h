// Exit codes of the `anyrdma` command.
#pragma once

namespace anyrdma::tools {

/// Exit statuses of the command. `anyrdma run` returns them only if the program did not start, or
/// if it succeeded and the command itself found a problem. The last two are those of shells.
enum class Exit : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kFaultMissed = 3,
  kNotExecutable = 126,
  kUnknownProgram = 127,
};

}  // namespace anyrdma::tools
