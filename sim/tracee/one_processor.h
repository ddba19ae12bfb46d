// Keeps the tracer and its traced threads on one processor, since only one of them runs at a time.
// Switching between them on one processor costs a context switch; between two processors it also
// costs an interrupt and a wake-up.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {

/// Binds the calling thread, and every process that it starts later, to one processor
/// (sched_setaffinity(2)) until the object is destroyed. Use the object only in that thread.
class OneProcessor {
 public:
  OneProcessor();
  /// The thread may use all of them again.
  ~OneProcessor();
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

  /// Whether other processes kept this thread from running for a large part of the time since the
  /// last check. Callers may call it often: most calls return false without checking.
  [[nodiscard]] bool is_crowded();
  /// Moves the calling thread and the given threads to the next allowed processor.
  void move(std::span<const pid_t> threads);

 private:
  void keep(std::span<const pid_t> threads) const;

  cpu_set_t allowed_{};
  int processor_ = -1;  ///< -1: all

  /// the thread's time of waiting for a processor: /proc/.../schedstat
  transport::realtime::Descriptor waited_;
  std::chrono::steady_clock::time_point looked_{};
  std::chrono::nanoseconds waited_before_{};
  unsigned asked_ = 0;
};

}  // namespace anyrdma::sim::tracee
