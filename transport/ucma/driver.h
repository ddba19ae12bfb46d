// Runs the transport in real time: the lock, the clock, and the thread that reads the system's
// event channel while the application sleeps.
#pragma once

#include <memory>
#include <optional>

#include "transport/realtime/epilogue.h"
#include "transport/realtime/progress_thread.h"
#include "transport/realtime/section_lock.h"
#include "verbs/runtime.h"

namespace anyrdma::transport::ucma {

/// One lock per open transport. While it is held the thread cannot be cancelled. Events are read
/// inside the critical section only. A thread that destroys an id is inside, too, and must not wait
/// for an event that another thread has just taken out of the channel.
class Driver final : public verbs::Runtime, private realtime::ProgressThread::Work {
 public:
  /// The interface that the driver runs; called inside the critical section.
  class Source {
   public:
    virtual ~Source() = default;
    /// Takes all events that are there, with their upcalls. Does not wait.
    virtual void take_events() = 0;
    /// Carries out the work for which call_driver() was called.
    virtual void catch_up() = 0;
  };

  // --- verbs::Runtime ---------------------------------------------------------------------------
  verbs::Instant now() override { return realtime::monotonic_now(); }
  [[nodiscard]] verbs::Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override;
  void enter() override { lock_.enter(); }
  void leave() override;
  [[nodiscard]] realtime::Epilogue& epilogue() { return epilogue_; }

  // --- life -------------------------------------------------------------------------------------
  /// Starts to run `source`, whose events make `fd` readable. Both outlive stop(). EMFILE, ENOMEM,
  /// EAGAIN.
  [[nodiscard]] verbs::Result<void> start(Source& source, int fd);
  /// Stops running the source. Outside the critical section.
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
