// Runs a program in a child process, and makes this process behave like the program to others:
// signals, waits and stops of this process apply to the program.
#pragma once

#include <functional>
#include <optional>

#include "tools/exit.h"
#include "verbs/result.h"

namespace anyrdma::tools {

struct Ending {
  std::optional<Exit> not_started;  ///< what `start` returned; the rest means nothing then
  int status = 0;                   ///< as waitpid(2) has it
};

/// Calls `start` in a child, where it is to replace the process and otherwise to return, and waits
/// for the child's end. Meanwhile signals that somebody sends to this process alone are passed on;
/// those of the terminal reach both. A child that is stopped stays so until it is told to continue,
/// or this process is; somebody who looks is told. If this process is killed, so is the child. Call
/// it while there is one thread. EAGAIN, ENOMEM, EMFILE.
[[nodiscard]] verbs::Result<Ending> run_child(const std::function<Exit()>& start);

/// Ends this process in the way that `status`, from waitpid(2), describes: after a signal, this
/// process raises the same signal, without a core dump; otherwise the function returns the exit
/// status.
[[nodiscard]] int end_like(int status);

}  // namespace anyrdma::tools
