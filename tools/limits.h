// What the command does when it comes to a limit of the system: one sentence, and an end.
#pragma once

namespace anyrdma::tools {

/// From now on, a lack of memory ends the process with a sentence and status 1. A write beyond the
/// limit of file sizes fails with EFBIG instead of raising SIGXFSZ. Call it once, at the beginning
/// of main().
void end_at_limits();
/// Gives SIGXFSZ back its action from before end_at_limits(), for a program that this process is
/// about to execute.
void give_back_file_limit();

}  // namespace anyrdma::tools
