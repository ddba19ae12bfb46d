// A page that a program on a simulated host and the world have in common: what its clocks show, so
// that reading them needs no system call. The program makes it (clock.cc) and tells the world
// (kClockCall); the world writes it before the program goes on, and reads it when it has stopped.
//
// One thread of all programs runs at a time, and stops before another one does; the world looks
// while none runs. So nothing here is ever touched by two at once, and each sees what the one
// before has left: the stop is a system call. The atomics keep the compiler honest, no more.
#pragma once

#include <atomic>
#include <cstdint>

namespace anyrdma::sim {

/// A system call that no kernel has: its argument is the descriptor of a memfd that is sealed
/// against shrinking and holds a ClockPage. 0: from now on the page may be read; else an errno,
/// negative.
inline constexpr long kClockCall = 1'000'002;

/// All times in nanoseconds. Zeros say that nothing may be read.
struct ClockPage {
  std::atomic<std::uint64_t> readings;  ///< since it was written; a reader counts itself first
  /// The number of readings from the page; for the next one the process uses the system call.
  std::atomic<std::uint64_t> allowed;
  std::atomic<std::int64_t> cost;  ///< of each: the clock shows that much more with each
  std::atomic<std::int64_t> up;    ///< CLOCK_MONOTONIC before the first one
  std::atomic<std::int64_t> date;  ///< CLOCK_REALTIME before the first one
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it is shared by processes");

/// The size of what is mapped.
inline constexpr unsigned kClockBytes = 4096;

}  // namespace anyrdma::sim
