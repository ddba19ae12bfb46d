// Exit codes of the `anyrdma` command.
#pragma once

namespace anyrdma::tools {

/// Of `run` only where the program never began, or did well where we think otherwise. The last two
/// are the shell's.
enum class Exit : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kFaultMissed = 3,
  kNotExecutable = 126,
  kUnknownProgram = 127,
};

}  // namespace anyrdma::tools
