// System calls by which a thread of a simulated process lets other threads run.
#pragma once

namespace anyrdma::transport::realtime {

/// A system call that no kernel has: others may run before its caller continues. Returns 0, or
/// kNoPoints when the schedule makes no choices.
inline constexpr long kPointCall = 1'000'000;
inline constexpr long kNoPoints = 1;

/// A scheduling point after an empty poll: the caller continues when something has happened in the
/// world. The kernel's sched_yield(2) means less: its caller may wait for another thread to write
/// memory.
inline constexpr long kPollCall = 1'000'007;

}  // namespace anyrdma::transport::realtime
