// Finds out whether other threads of this process are idle, or are runnable and wait for a
// processor.
#pragma once

#include <chrono>
#include <map>

namespace anyrdma::c_api {

/// Distinguishes a program whose threads are idle from one whose threads are not scheduled. On a
/// busy machine, a thread that was woken may wait for a processor for a long time. Not thread-safe.
class OtherThreads {
 public:
  /// Measures CPU time from now on.
  OtherThreads();

  /// True if each other thread sleeps, or has used at least `share` of CPU time since construction.
  /// Also true if /proc, which shows this, is missing.
  [[nodiscard]] bool had_their_chance(std::chrono::nanoseconds share) const;

 private:
  // CPU time of each thread at construction, by thread id.
  std::map<int, std::chrono::nanoseconds> used_;
};

}  // namespace anyrdma::c_api
