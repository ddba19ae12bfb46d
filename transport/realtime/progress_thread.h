// The background thread of a real-time transport. It waits for a descriptor and for a deadline, and
// works while the application sleeps.
#pragma once

#include <memory>
#include <optional>

#include "verbs/result.h"
#include "verbs/time.h"

namespace anyrdma::transport::realtime {

/// Returns the time of the system's monotonic clock, which is the time of every real-time runtime.
[[nodiscard]] verbs::Instant monotonic_now();
/// Converts an instant of the monotonic clock to the time since 1970-01-01 00:00 UTC, as the
/// system's clock is set now.
[[nodiscard]] verbs::Duration wall_clock(verbs::Instant instant);

/// A thread with an Asio io_context, in which all signals are blocked. The thread sleeps unless
/// there is something to do.
class ProgressThread {
 public:
  /// The interface of the work that the thread does.
  class Work {
   public:
    virtual ~Work() = default;
    /// Called on the background thread when the descriptor is readable, the deadline has come, or
    /// wake() was called. Returns the next deadline.
    virtual std::optional<verbs::Instant> on_wakeup() = 0;
  };
  /// Starts the thread. The caller keeps owning `fd`. `fd` and `work` must outlive the thread.
  /// Errors: EMFILE, ENOMEM, EAGAIN.
  [[nodiscard]] static verbs::Result<std::unique_ptr<ProgressThread>> start(int fd, Work& work);
  /// Stops the thread and waits until it has ended. Do not call it on the thread itself.
  virtual ~ProgressThread() = default;

  /// Lets the thread call on_wakeup() soon. Any thread.
  virtual void wake() = 0;
};

}  // namespace anyrdma::transport::realtime
