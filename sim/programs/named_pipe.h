// A named pipe that a thread wants to open. The kernel waits in open(2) until the other end is
// opened as well, in real time, and no other thread would run. Source: fifo(7), open(2).
#pragma once

#include <sys/types.h>

#include <optional>

#include "sim/tracee/tracee.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// Whether a thread that sleeps in the kernel is opening a file. Reads /proc.
[[nodiscard]] bool is_opening(pid_t tid);
/// The call by which the thread was opening a file when it was interrupted; nullopt: it was in
/// another one, or in none.
[[nodiscard]] std::optional<tracee::Call> opening_by(const user_regs_struct& registers);

/// Holds the thread's end, so that a process that opens the other end finds a partner.
class NamedPipe {
 public:
  /// nullopt: that call opens none, or does not wait, or it cannot be opened.
  [[nodiscard]] static std::optional<NamedPipe> opened_by(const tracee::Tracee& thread,
                                                          const tracee::Call& call);
  /// Whether the other end is, or was, open: the thread's call would return.
  [[nodiscard]] bool has_partner() const;
  /// Opens both ends: while this is held, no open of the pipe waits.
  [[nodiscard]] transport::realtime::Descriptor both_ends() const;

 private:
  NamedPipe(transport::realtime::Descriptor own, bool writes)
      : own_(std::move(own)), writes_(writes) {}

  transport::realtime::Descriptor own_;  ///< the thread's end
  bool writes_;
};

}  // namespace anyrdma::sim::programs
