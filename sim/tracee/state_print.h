// Detects a thread that loops without effect: its state equals an earlier one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace anyrdma::sim::tracee {

/// Returns a hash of all state that determines the next instructions of a thread, except its
/// general registers: the writable memory of its process and the wide (vector) registers.
/// Precondition: the thread and all threads and processes that share its memory have stopped.
/// nullopt: the thread has ended, or its memory cannot be read.
[[nodiscard]] std::optional<std::uint64_t> state_print(pid_t tid);

}  // namespace anyrdma::sim::tracee
