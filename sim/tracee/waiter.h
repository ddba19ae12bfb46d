// Waits for threads that this thread traces, and for no other children of the process: a test may
// have children of its own, and uses SIGALRM and SIGCHLD as it likes.
#pragma once

#include <chrono>

#include "sim/tracee/ticker.h"
#include "sim/tracee/tracee.h"
#include "verbs/result.h"

namespace anyrdma::sim::tracee {

/// Reports the stops of all threads that the calling thread traces. A wait that takes long ends for
/// a moment at regular intervals (a tick), so that the caller can examine a thread that never
/// stops. Belongs to the thread that created it.
class Waiter {
 public:
  /// `pause`: the real time from one tick to the next. Throws std::system_error if the system
  /// provides no thread or no signal.
  explicit Waiter(std::chrono::microseconds pause) : ticker_(pause) {}

  /// Waits for the next stop or end of a traced thread. Errors: EINTR (a tick); ECHILD (the calling
  /// thread traces no thread).
  [[nodiscard]] verbs::Result<Stop> next();
  /// Like next(), but does not wait. Errors: EAGAIN (no thread has stopped) and ECHILD.
  [[nodiscard]] verbs::Result<Stop> next_now();

 private:
  Ticker ticker_;
};

}  // namespace anyrdma::sim::tracee
