// A page of memory that a program on a simulated host shares with the simulator. The page contains
// the time of the program's clocks, so that reading them needs no system call, and the number of
// scheduling points at which the schedule would change nothing. The program creates
// the page (clock.cc) and passes it to the simulator (kClockCall). The simulator writes the page
// before the program continues, and reads it when the program has stopped.
//
// Memory order of the page: of all threads of all programs, one runs at a time, and stops before
// another one continues. The simulator uses the page only while no thread runs. So no two threads
// use the page at the same time, and the stop (a system call) makes earlier writes visible. The
// atomics only prevent compiler optimizations.
#pragma once

#include <atomic>
#include <cstdint>

namespace anyrdma::sim {

/// A system call that exists only in the simulator: the program shares the memory of a ClockPage
/// with the simulator. The argument is the descriptor of a memfd that is sealed against shrinking
/// and contains a ClockPage. Returns 0, after which the program may read clocks from the page; or a
/// negative errno.
inline constexpr long kClockCall = 1'000'002;

/// The time of a program's clocks. All times are in nanoseconds. A page of zeros allows no reading.
struct ClockPage {
  /// The number of readings since the simulator wrote the page. A program increments it before it
  /// reads a clock.
  std::atomic<std::uint64_t> readings;

  /// The number of readings that the page allows. After that many, the program reads a clock by a
  /// system call.
  std::atomic<std::uint64_t> allowed;
  std::atomic<std::int64_t> cost;  ///< time by which each reading advances the clocks
  std::atomic<std::int64_t> up;    ///< CLOCK_MONOTONIC before the first one
  std::atomic<std::int64_t> date;  ///< CLOCK_REALTIME before the first one
  std::atomic<std::uint64_t> own;  ///< those of `readings` that anyrdma's libraries made

  /// The number of scheduling points that a thread may still pass without a system call. A thread
  /// decrements it at each; if it was not positive, the point is a system call.
  std::atomic<std::int64_t> points;
  /// Of `points`: those that threads gave up, because the simulator must see what they did.
  std::atomic<std::int64_t> forgone;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it is shared by processes");

/// The size in bytes of the shared mapping.
inline constexpr unsigned kClockBytes = 4096;

}  // namespace anyrdma::sim
