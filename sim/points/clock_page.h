// A page of memory that a program on a simulated host shares with the simulator. The page contains
// the time of the program's clocks, so that reading them needs no system call. The program creates
// the page (clock.cc) and passes it to the simulator (kClockCall). The simulator writes the page
// before the program continues, and reads it when the program has stopped.
//
// Of all threads of all programs, one runs at a time, and it stops before another one continues;
// the simulator uses the page only while none runs. So no two threads use the page at the same
// time, and the stop (a system call) makes earlier writes visible. The atomics only prevent
// compiler optimizations.
#pragma once

#include <atomic>
#include <cstdint>

namespace anyrdma::sim {

/// A system call that exists only in the simulator: it shares the memory of a ClockPage. The
/// argument is the descriptor of a memfd that is sealed against shrinking and contains a ClockPage.
/// Returns 0, and from then on the page may be read; or a negative errno.
inline constexpr long kClockCall = 1'000'002;

/// All times in nanoseconds. Zeros say that nothing may be read.
struct ClockPage {
  std::atomic<std::uint64_t>
      readings;  ///< since the supervisor wrote the page; a reader increments it first

  /// The number of readings from the page; for the next one the process uses the system call.
  std::atomic<std::uint64_t> allowed;
  std::atomic<std::int64_t> cost;  ///< of each: the clock shows that much more with each
  std::atomic<std::int64_t> up;    ///< CLOCK_MONOTONIC before the first one
  std::atomic<std::int64_t> date;  ///< CLOCK_REALTIME before the first one
  std::atomic<std::uint64_t> own;  ///< those of `readings` that anyrdma's libraries made
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it is shared by processes");

/// The size of what is mapped.
inline constexpr unsigned kClockBytes = 4096;

}  // namespace anyrdma::sim
