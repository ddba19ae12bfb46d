// The system calls by which a program reports marks (marks.h) and instrumented blocks (coverage.h)
// to the simulator.
#pragma once

#include <cstddef>

namespace anyrdma::sim {

/// A system call that exists only in the simulator: the program reports that it has reached a mark
/// (marks.h). Arguments: the kind of mark, the address and length of its name, and whether its
/// condition holds.
inline constexpr long kMarkCall = 1'000'005;
/// The largest length of a mark's name in bytes. A longer name is truncated.
inline constexpr std::size_t kMarkNameMax = 200;

/// A system call that exists only in the simulator: a thread reports that it has reached the
/// instrumented block at which the simulator asked it to stop, so that other threads can run first.
/// Argument: the number of the block in the program. Returns the number of further blocks after
/// which the thread must stop next; 0: never again.
inline constexpr long kGuardCall = 1'000'006;

}  // namespace anyrdma::sim
