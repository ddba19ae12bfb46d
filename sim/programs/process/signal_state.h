// The signals of a thread, as its kernel has them: pending, blocked, ignored, caught. Reads /proc.
// Source: signal(7), proc_pid_status(5).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Whether a pending signal would be delivered to the thread. `mask`: the signals that it blocks
/// during the call, instead of its usual mask.
[[nodiscard]] bool takes_signal(const Thread& thread, std::optional<std::uint64_t> mask = {});

/// Whether a signal would end the thread's process: it has no handler, and is neither ignored nor
/// blocked. Call it when a signal whose default action is to end the process is about to be
/// delivered.
[[nodiscard]] bool ends_process(const Thread& thread, int signal);

/// Whether a signal would have no effect on the thread's process: it has no handler and would not
/// end the process.
[[nodiscard]] bool ignores(const Thread& thread, int signal);

/// Returns the signals that are pending for the thread or its process, one bit each as in sigset_t.
[[nodiscard]] std::uint64_t pending_signals(const Thread& thread);

}  // namespace anyrdma::sim::programs
