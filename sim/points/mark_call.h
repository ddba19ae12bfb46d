// The system calls of a program's marks and of its instrumented blocks.
#pragma once

#include <cstddef>

namespace anyrdma::sim {

/// A system call that no kernel has: a mark of marks.h. Arguments: its kind, the address and the
/// length of its name, whether the condition holds.
inline constexpr long kMarkCall = 1'000'005;
/// A longer name is truncated.
inline constexpr std::size_t kMarkNameMax = 200;

/// Likewise: a thread has come to an instrumented block at which the world wants it to stop; others
/// may go on before it does. Argument: which block, a number of the program's own. Returns how many
/// blocks on it is to stop next; 0: never again.
inline constexpr long kGuardCall = 1'000'006;

}  // namespace anyrdma::sim
