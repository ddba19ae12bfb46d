// Time as the protocol cores see it: a number that is handed in. Nothing here can ask what time it
// is.
#pragma once

#include <chrono>
#include <optional>

namespace anyrdma::verbs {

/// All durations have nanosecond resolution.
using Duration = std::chrono::nanoseconds;

/// Tag of the time axis. Deliberately without now(): virtual in the simulator, monotonic elsewhere.
struct Timeline {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  static constexpr bool is_steady = true;
};

/// A point on that axis. Never goes back within one Runtime.
using Instant = std::chrono::time_point<Timeline, Duration>;

/// The earlier of two optional deadlines; nullopt means "never".
[[nodiscard]] constexpr std::optional<Instant> earlier(std::optional<Instant> a,
                                                       std::optional<Instant> b) {
  if (!a) return b;
  if (!b) return a;
  return *a < *b ? a : b;
}

}  // namespace anyrdma::verbs
