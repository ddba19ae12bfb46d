// What the other threads of this process are about.
#pragma once

#include <chrono>
#include <map>

namespace anyrdma::c_api {

/// Tells a program that does nothing from one that is kept from doing something: on a busy machine
/// a thread that was woken may wait for a processor for as long as it likes. Not thread-safe.
class OtherThreads {
 public:
  /// Counts from now on.
  OtherThreads();

  /// Whether each of them sleeps, or has had at least `share` of a processor's time: then it had
  /// its chance. True as well where nobody can tell (no /proc).
  [[nodiscard]] bool had_their_chance(std::chrono::nanoseconds share) const;

 private:
  std::map<int, std::chrono::nanoseconds> used_;  // by thread id, then
};

}  // namespace anyrdma::c_api
