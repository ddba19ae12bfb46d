// Runs the transport over the kernel's connection manager in real time: the lock, the clock, and
// the thread that reads the system's event channel while the application sleeps.
#pragma once

#include <memory>
#include <optional>

#include "transport/realtime/epilogue.h"
#include "transport/realtime/progress_thread.h"
#include "transport/realtime/section_lock.h"
#include "verbs/runtime.h"

namespace anyrdma::transport::ucma {

/// The runtime of one opened transport. It has one lock; a thread that holds it cannot be
/// cancelled. Events are read only inside the critical section (verbs::Runtime::enter). So a thread
/// that destroys an id inside the section never waits for an event that another thread has just
/// taken out of the channel.
class Driver final : public verbs::Runtime, private realtime::ProgressThread::Work {
 public:
  /// The interface of the transport that the driver runs. Its functions are called inside the
  /// critical section (verbs::Runtime::enter).
  class Source {
   public:
    virtual ~Source() = default;
    /// Reads all events that have arrived, and makes their upcalls. Does not wait.
    virtual void take_events() = 0;
    /// Does the work for which call_driver() was called.
    virtual void catch_up() = 0;
  };

  // --- verbs::Runtime ---------------------------------------------------------------------------
  verbs::Instant now() override { return realtime::monotonic_now(); }
  [[nodiscard]] verbs::Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override;
  void enter() override { lock_.enter(); }
  void leave() override;
  [[nodiscard]] realtime::Epilogue& epilogue() { return epilogue_; }

  // --- life -------------------------------------------------------------------------------------

  /// Starts to run `source`. `fd` must be readable while `source` has events. Both must exist until
  /// stop(). Errors: EMFILE, ENOMEM, EAGAIN.
  [[nodiscard]] verbs::Result<void> start(Source& source, int fd);
  /// Stops running the source. Call it outside the critical section (verbs::Runtime::enter).
  void stop();

  // --- fork, in the handlers of pthread_atfork --------------------------------------------------
  void before_fork() { lock_.before_fork(); }
  void after_fork_in_parent() { lock_.after_fork(); }
  void after_fork_in_child();

 private:
  std::optional<verbs::Instant> on_wakeup() override;
  void catch_up();

  realtime::SectionLock lock_;
  realtime::Epilogue epilogue_;
  Source* source_ = nullptr;
  std::unique_ptr<realtime::ProgressThread> thread_;
};

}  // namespace anyrdma::transport::ucma
