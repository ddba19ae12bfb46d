// A named pipe that a thread wants to open. open(2) waits in the kernel, in real time, until the
// other end is opened as well; since only one thread runs at a time, none could open it meanwhile.
// Source: fifo(7), open(2).
#pragma once

#include <sys/types.h>

#include <optional>

#include "sim/tracee/tracee.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// Whether a thread that sleeps in the kernel is opening a file. Reads /proc.
[[nodiscard]] bool is_opening(pid_t tid);
/// Returns the system call by which an interrupted thread was opening a file. nullopt: it was
/// making another call, or none.
[[nodiscard]] std::optional<tracee::Call> opening_by(const user_regs_struct& registers);

/// Keeps one end of a named pipe open for a waiting thread, so that a process that opens the other
/// end does not wait.
class NamedPipe {
 public:
  /// Opens the pipe that `call` is about to open. nullopt: the call opens no named pipe, or would
  /// not wait, or the pipe cannot be opened.
  [[nodiscard]] static std::optional<NamedPipe> opened_by(const tracee::Tracee& thread,
                                                          const tracee::Call& call);
  /// Whether the other end of the pipe is or was open, so that the thread's open(2) would return.
  [[nodiscard]] bool has_partner() const;
  /// Opens both ends of the pipe. While the returned descriptor is open, no open(2) of the pipe
  /// waits.
  [[nodiscard]] transport::realtime::Descriptor both_ends() const;

 private:
  NamedPipe(transport::realtime::Descriptor own, transport::realtime::Descriptor closings)
      : own_(std::move(own)), closings_(std::move(closings)) {}

  transport::realtime::Descriptor own_;       ///< the thread's end
  transport::realtime::Descriptor closings_;  ///< of readers, by inotify(7); the thread writes
};

}  // namespace anyrdma::sim::programs
