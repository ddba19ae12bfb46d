// A program in a process of its own, behind which this one stands back: whoever sends this one
// signals, waits for it or stops it deals with the program.
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

/// For a status of waitpid(2): ends this process by the same signal, leaving no core of it; returns
/// the exit status where there was no signal.
[[nodiscard]] int end_like(int status);

}  // namespace anyrdma::tools
