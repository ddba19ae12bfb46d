// The system calls of a program's marks and of its instrumented blocks.
#pragma once

#include <cstddef>

namespace anyrdma::sim {

/// A system call that exists only in the simulator: the program has reached a mark (marks.h).
/// Arguments: the kind of mark, the address and length of its name, and whether its condition
/// holds.
inline constexpr long kMarkCall = 1'000'005;
/// A longer name is truncated.
inline constexpr std::size_t kMarkNameMax = 200;

/// A system call that exists only in the simulator: a thread has reached an instrumented block at
/// which the simulator wanted it to stop, so that other threads may run first. Argument: the number
/// of the block in the program. Returns after how many further blocks the thread must stop next; 0:
/// never again.
inline constexpr long kGuardCall = 1'000'006;

}  // namespace anyrdma::sim
