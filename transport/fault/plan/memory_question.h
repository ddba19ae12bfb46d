// The question of a process on a simulated host to its world about weak memory.
#pragma once

namespace anyrdma::fault {

/// A system call that no kernel has: of so many choices, which one? Its argument is how many, at
/// least 2; its result a smaller number (verbs::soft::MemoryChooser).
inline constexpr long kMemoryCall = 1'000'004;
/// The variable that names the profile; absent: strict.
inline constexpr const char* kMemoryVariable = "ANYRDMA_MEMORY";

}  // namespace anyrdma::fault
