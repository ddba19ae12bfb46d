// Starts a program so that it can be traced from its first instruction.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "sim/tracee/filter.h"
#include "sim/tracee/realm.h"
#include "verbs/result.h"

namespace anyrdma::sim::tracee {

struct LaunchOptions {
  std::string path;                      ///< what is executed
  std::vector<std::string> arguments;    ///< the first is the name it is called by
  std::vector<std::string> environment;  ///< NAME=value
  std::string directory{};               ///< to work in; empty: this one
  int input = -1;                        ///< becomes descriptor 0 ...
  int output = -1;                       ///< ... 1 ...
  int error = -1;                        ///< ... and 2
  const Realm* realm = nullptr;          ///< whose process it becomes; null: it is one like us
};

/// The process is about to execute the program: it has stopped at the end of execve(2)
/// (StopKind::kProgram), or it is gone. Its addresses are not random, and rdtsc stops it with
/// SIGSEGV where the machine can do that (time_stamps.h). `calls` decides which system calls stop
/// it, as StopKind::kCall; a call without a rule does. It dies with this process. Errors: EAGAIN,
/// ENOMEM, EPERM (ptrace(2) or seccomp(2) is not allowed here), and what execve(2) says. The
/// calling thread is the one that traces.
[[nodiscard]] verbs::Result<pid_t> launch(const LaunchOptions& options,
                                          std::span<const CallRule> calls);

}  // namespace anyrdma::sim::tracee
