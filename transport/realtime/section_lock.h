// The lock behind the critical section of a runtime in real time.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <mutex>

#include "transport/realtime/scheduling_point.h"

namespace anyrdma::transport::realtime {

/// While it is held the thread cannot be cancelled (see CancellationOff, whose scope is a block).
/// Around a fork, enter() and leave() do not fit: the child's half runs in another process.
///
/// A mutex lets the thread that has just left in again before one that sleeps for it has woken up.
/// So a thread that leaves while others wait gives them the processor now and then: a thread that
/// posts and polls without pause must not keep others out for ever, and where one thread runs at a
/// time (in a simulated world) it would.
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
  /// Called inside, after an empty poll: lets other threads in first, and yields the processor.
  void give_way() {
    const int previous = cancel_state_;
    mutex_.unlock();
    poll_in_vain();
    lock();
    cancel_state_ = previous;
  }
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// Resets the number of waiting threads, since threads that waited in the parent do not exist in
  /// the child.
  void after_fork_in_child() {
    waiting_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  /// After this many times in a row, a thread that leaves lets waiting threads in first.
  static constexpr unsigned kUnfairMax = 64;

  void lock() {
    if (mutex_.try_lock()) return;
    // Relaxed: a hint, which costs a system call when it is wrong.
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    unfair_ = 0;
  }

  std::mutex mutex_;
  int cancel_state_ = 0;  ///< of the thread inside
  unsigned unfair_ = 0;   ///< times that a thread left while others waited
  std::atomic<unsigned> waiting_ = 0;
};

}  // namespace anyrdma::transport::realtime
