// Ctrl-C on a command that has something to say first.
#pragma once

namespace anyrdma::tools {

/// While it lives, the first SIGINT or SIGTERM is only noted. The second one ends the process at
/// once, and the kernel ends what it has started (PR_SET_PDEATHSIG, PTRACE_O_EXITKILL). A signal
/// that was ignored stays so. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Whether there was one.
  [[nodiscard]] static bool came();
  /// Ends the process as the signal would have, once all has been said: a shell whose loop we are
  /// part of ends it then. Precondition: came().
  [[noreturn]] static void end();
};

}  // namespace anyrdma::tools
