// The lock that implements the critical section of a real-time runtime (verbs::Runtime::enter).
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <mutex>

#include "transport/realtime/scheduling_point.h"

namespace anyrdma::transport::realtime {

/// A lock that also disables cancellation of the thread that holds it, as CancellationOff does for
/// a block. Use the fork functions instead of enter() and leave() around a fork, because the child
/// is another process.
///
/// With a plain mutex, the thread that has just left can enter again before a waiting thread has
/// woken up. So a thread that leaves yields the processor now and then, if others wait. Otherwise a
/// thread that posts and polls without pause could block others for ever, mainly in a simulation,
/// where one thread runs at a time.
class SectionLock {
 public:
  void enter() {
    int previous = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
    lock();
    cancel_state_ = previous;
  }
  void leave() {
    const int previous = cancel_state_;
    const bool yields = waiting_.load(std::memory_order_relaxed) != 0 && ++unfair_ >= kUnfairMax;
    if (yields) unfair_ = 0;
    mutex_.unlock();
    if (yields) ::sched_yield();
    pthread_setcancelstate(previous, nullptr);
  }
  /// Call inside the critical section, after an empty poll. Lets waiting threads enter first, and
  /// yields the processor.
  void give_way() {
    const int previous = cancel_state_;
    mutex_.unlock();
    poll_in_vain();
    lock();
    cancel_state_ = previous;
  }
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// Resets the number of waiting threads. Threads that waited in the parent do not exist in the
  /// child.
  void after_fork_in_child() {
    waiting_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  /// The number of times in a row that a thread may leave without letting waiting threads enter
  /// first.
  static constexpr unsigned kUnfairMax = 64;

  void lock() {
    if (mutex_.try_lock()) return;
    // Relaxed, because the value is a hint. A wrong hint costs one system call.
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    unfair_ = 0;
  }

  std::mutex mutex_;
  int cancel_state_ = 0;  ///< cancellation state of the thread that holds the lock
  unsigned unfair_ = 0;   ///< number of times that a thread left while others waited
  std::atomic<unsigned> waiting_ = 0;
};

}  // namespace anyrdma::transport::realtime
