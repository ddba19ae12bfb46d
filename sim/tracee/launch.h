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
  std::vector<std::string> arguments;    ///< the first one is the program's name (argv[0])
  std::vector<std::string> environment;  ///< NAME=value
  std::string directory{};               ///< to work in; empty: this one
  int input = -1;                        ///< becomes descriptor 0 ...
  int output = -1;                       ///< ... 1 ...
  int error = -1;                        ///< ... and 2
  const Realm* realm = nullptr;  ///< the namespaces of the process; null: those of this process
};

/// Starts a process that the calling thread traces, and returns its process id. The process has
/// stopped at the end of execve(2) (StopKind::kProgram), before the program's first instruction, or
/// it has ended. Address randomization is off, and RDTSC raises SIGSEGV where the machine supports
/// that (time_stamps.h). `calls`: the rules of the system calls that stop the process with
/// StopKind::kCall; a call without a rule stops it too. The process is killed when this process
/// ends. Errors: EAGAIN, ENOMEM, EPERM (ptrace(2) or seccomp(2) is not allowed here), and those of
/// execve(2).
[[nodiscard]] verbs::Result<pid_t> launch(const LaunchOptions& options,
                                          std::span<const CallRule> calls);

}  // namespace anyrdma::sim::tracee
