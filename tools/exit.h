// Exit codes of the `anyrdma` command.
#pragma once

namespace anyrdma::tools {

/// The last two are the shell's.
enum class Exit : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kNotExecutable = 126,
  kUnknownProgram = 127,
};

}  // namespace anyrdma::tools
