// Keeps tracer and tracee on one processor, since they take turns. On one processor a turn costs a
// switch; on two it also costs an interrupt and a wake-up.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {

/// Binds the calling thread, and every process that it starts from then on, to one of its
/// processors (sched_setaffinity(2)) until the object is destroyed. Belongs to that thread.
class OneProcessor {
 public:
  OneProcessor();
  /// The thread may use all of them again.
  ~OneProcessor();
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

  /// Whether others have kept the thread from running for a good part of the time since it was
  /// looked at last. To be asked often: most times it is not looked at.
  [[nodiscard]] bool is_crowded();
  /// Goes to the next processor, with these threads.
  void move(std::span<const pid_t> threads);
  /// These may use all that it may use itself, until they are kept to one again.
  void let_go(std::span<const pid_t> threads) const;
  void keep(std::span<const pid_t> threads) const;

 private:
  cpu_set_t allowed_{};
  int processor_ = -1;                      ///< -1: all
  transport::realtime::Descriptor waited_;  ///< how long it has, of proc(5)'s schedstat
  std::chrono::steady_clock::time_point looked_{};
  std::chrono::nanoseconds waited_before_{};
  unsigned asked_ = 0;
};

}  // namespace anyrdma::sim::tracee
