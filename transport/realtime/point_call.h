// The system calls by which a thread of a simulated process lets other threads run.
#pragma once

namespace anyrdma::transport::realtime {

/// The number of a system call that no kernel has. Before it returns, the simulator may let other
/// threads run. It returns 0, or kNoPoints if the schedule makes no choices.
inline constexpr long kPointCall = 1'000'000;
inline constexpr long kNoPoints = 1;

/// The number of the system call for an empty poll. It returns when something has happened in the
/// simulation. sched_yield(2) has another meaning: its caller may wait for another thread to write
/// memory.
inline constexpr long kPollCall = 1'000'007;

}  // namespace anyrdma::transport::realtime
