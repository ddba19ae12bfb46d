// The system call by which a process on a simulated host asks for choices about weak memory.
#pragma once

namespace anyrdma::fault {

/// The number of a system call that no kernel has. Its argument is the number of choices, at least
/// 2; its result is the chosen number, from 0 (verbs::soft::MemoryChooser).
inline constexpr long kMemoryCall = 1'000'004;
/// The environment variable that names the memory profile; unset: strict.
inline constexpr const char* kMemoryVariable = "ANYRDMA_MEMORY";

}  // namespace anyrdma::fault
