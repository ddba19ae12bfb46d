// How anyrdma's libraries read CLOCK_MONOTONIC in a simulated world. A program that only reads
// clocks is waiting for a time, so the world lets more and more time pass with each reading.
// Readings of the libraries are no sign of that: each costs the same.
#pragma once

#include <cstdint>

namespace anyrdma::transport::realtime {

/// The third argument of clock_gettime(2), which the kernel does not have: the reading is one of
/// the libraries' own.
inline constexpr std::uint64_t kOwnReading = 0x6f776e20636c6f63;

}  // namespace anyrdma::transport::realtime

extern "C" {
/// Nanoseconds of CLOCK_MONOTONIC. Defined by sim/points, which only programs on simulated hosts
/// load; else null. Any thread.
[[gnu::weak]] std::int64_t anyrdma_own_clock() noexcept;

/// Nanoseconds of CLOCK_MONOTONIC without a reading, which costs time: for marks that no program
/// must notice. Negative: the time is not known. Defined as anyrdma_own_clock() is. Any thread.
[[gnu::weak]] std::int64_t anyrdma_peek_clock() noexcept;
}
