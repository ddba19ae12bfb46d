// Ctrl-C, or a terminal that is closed, on a command that has something to say first.
#pragma once

namespace anyrdma::tools {

/// While an object of this class exists, the first SIGINT, SIGTERM or SIGHUP only sets a flag. The
/// second one ends the process at once, and the kernel kills its children (PR_SET_PDEATHSIG,
/// PTRACE_O_EXITKILL). A signal that was ignored before stays ignored. Only one object may exist.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether there was one.
  [[nodiscard]] static bool came();
  /// Ends the process by the noted signal, after its last output, so that a shell loop that runs
  /// this command ends as well. Precondition: came().
  [[noreturn]] static void end();
};

}  // namespace anyrdma::tools
