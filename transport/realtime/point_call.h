// The system call with which a thread of a simulated process says that it is at a scheduling point.
#pragma once

namespace anyrdma::transport::realtime {

/// A system call that no kernel has: others may go on before its caller does. Returns 0, or
/// kNoPoints when the schedule makes no choices.
inline constexpr long kPointCall = 1'000'000;
inline constexpr long kNoPoints = 1;

}  // namespace anyrdma::transport::realtime
