// The thread that works while the application sleeps: it waits for a descriptor and for a deadline.
#pragma once

#include <memory>
#include <optional>

#include "verbs/result.h"
#include "verbs/time.h"

namespace anyrdma::transport::realtime {

/// The one time axis of a real-time runtime: the system's monotonic clock.
[[nodiscard]] verbs::Instant monotonic_now();
/// The offset of that clock from 1970-01-01 00:00 UTC, as the system's clock is set now.
[[nodiscard]] verbs::Duration wall_clock(verbs::Instant instant);

/// An Asio io_context with a thread of its own, in which all signals are blocked. It sleeps unless
/// there is something to do.
class ProgressThread {
 public:
  /// The work of the thread.
  class Work {
   public:
    virtual ~Work() = default;
    /// Called on the thread, when the descriptor is readable, the deadline has come or wake() was
    /// called. Returns the next deadline.
    virtual std::optional<verbs::Instant> on_wakeup() = 0;
  };
  /// Starts it. `fd` stays the caller's; both outlive the thread. EMFILE, ENOMEM, EAGAIN.
  [[nodiscard]] static verbs::Result<std::unique_ptr<ProgressThread>> start(int fd, Work& work);
  /// Stops it and waits until it has ended. Not from the thread itself.
  virtual ~ProgressThread() = default;

  /// Makes on_wakeup be called soon. Any thread.
  virtual void wake() = 0;
};

}  // namespace anyrdma::transport::realtime
