// The lock behind the critical section of a runtime in real time.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <mutex>

namespace anyrdma::transport::realtime {

/// While it is held the thread cannot be cancelled (see CancellationOff, whose scope is a block).
/// Around a fork, enter() and leave() do not fit: the child's half runs in another process.
class SectionLock {
 public:
  void enter() {
    int previous = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
    mutex_.lock();
    cancel_state_ = previous;
  }
  void leave() {
    const int previous = cancel_state_;
    mutex_.unlock();
    pthread_setcancelstate(previous, nullptr);
  }
  /// Inside: others may come in first, and have the processor.
  void give_way() {
    const int previous = cancel_state_;
    mutex_.unlock();
    ::sched_yield();
    mutex_.lock();
    cancel_state_ = previous;
  }
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  int cancel_state_ = 0;  ///< of the thread inside
};

}  // namespace anyrdma::transport::realtime
