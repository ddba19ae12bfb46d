// What a program on a simulated host says at each lock.
#pragma once

namespace anyrdma::sim {

/// A system call that no kernel has: others may go on here, before the caller does. 0: the same at
/// the next lock; kNoPoints: nobody wants to know.
inline constexpr long kPointCall = 1'000'000;
inline constexpr long kNoPoints = 1;

}  // namespace anyrdma::sim
