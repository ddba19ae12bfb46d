// Types for points of time and durations. The protocol code receives the current time as an
// argument and cannot read a clock.
#pragma once

#include <chrono>
#include <optional>

namespace anyrdma::verbs {

/// All durations have nanosecond resolution.
using Duration = std::chrono::nanoseconds;

/// Identifies the time axis of std::chrono::time_point for all times of this library. The struct
/// has no now(), because time is virtual in the simulator and monotonic elsewhere.
struct Timeline {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  static constexpr bool is_steady = true;
};

/// A point of time. Within one Runtime it never goes back.
using Instant = std::chrono::time_point<Timeline, Duration>;

/// The earlier of two optional deadlines; nullopt means "never".
[[nodiscard]] constexpr std::optional<Instant> earlier(std::optional<Instant> a,
                                                       std::optional<Instant> b) {
  if (!a) return b;
  if (!b) return a;
  return *a < *b ? a : b;
}

}  // namespace anyrdma::verbs
