// The system call by which a process on a simulated host asks the simulator for choices about weak
// memory order.
#pragma once

namespace anyrdma::fault {

/// The number of a system call that no kernel has. Its argument is the number of possible choices,
/// at least 2. Its result is the number of the chosen one, from 0 (verbs::soft::MemoryChooser).
inline constexpr long kMemoryCall = 1'000'004;
/// The environment variable with the memory profile (docs/memory.md) of the simulated device.
/// Unset: strict.
inline constexpr const char* kMemoryVariable = "ANYRDMA_MEMORY";

}  // namespace anyrdma::fault
