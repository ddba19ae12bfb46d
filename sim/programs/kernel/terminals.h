// Pseudo terminals of programs: those whose user's end is gone, and calls for which the kernel
// sends signals to other processes at a terminal. Source: pty(7), ioctl_tty(2), credentials(7).
#pragma once

#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// The pseudo terminals that programs have made. When the last descriptor of the user's end (the
/// master) is closed, the kernel hangs up: it sends SIGHUP and SIGCONT. Programs close descriptors
/// without a stop, and at their end, so the supervisor asks at the end of each turn.
class Terminals {
 public:
  /// Call when a program unlocks a terminal, without which no program can open its other end.
  void add(const Descriptor& master);
  /// Whether a terminal has hung up since the last call.
  [[nodiscard]] bool note_hangups();

 private:
  /// The names of the other ends, which keep neither end open. The kernel removes the name when it
  /// hangs up.
  std::vector<Descriptor> names_;
};

/// Whether the descriptor is a terminal that has not hung up.
[[nodiscard]] bool is_terminal(const Descriptor& descriptor);
/// Whether the descriptor is a terminal that has hung up.
[[nodiscard]] bool has_hung_up(const Descriptor& descriptor);

/// For the ioctl(2) calls of terminals that stop (kOfIoctl): TIOCSPTLCK makes a terminal usable;
/// for the others the kernel may send signals.
[[nodiscard]] Outcome on_terminal_control(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
