// Whether other threads of this process are idle or only wait for a processor.
#pragma once

#include <chrono>
#include <map>

namespace anyrdma::c_api {

/// Distinguishes an idle program from one that is not scheduled: on a busy machine a thread that
/// was woken may wait for a processor for a long time. Not thread-safe.
class OtherThreads {
 public:
  /// Measures CPU time from now on.
  OtherThreads();

  /// True if each other thread sleeps, or has used at least `share` of CPU time since construction.
  /// Also true if that is unknown (no /proc).
  [[nodiscard]] bool had_their_chance(std::chrono::nanoseconds share) const;

 private:
  std::map<int, std::chrono::nanoseconds> used_;  // by thread id, then
};

}  // namespace anyrdma::c_api
