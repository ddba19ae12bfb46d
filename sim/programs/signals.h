// Signals between programs, and what becomes of a wait that one interrupts. The kernel keeps and
// delivers them; we see to it that it does so when it is the receiver's turn.
// Source: signal(7).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// To a thread of a process, or to any (0).
void send_signal(Sandbox& sandbox, Process& process, pid_t thread, int signal);

/// Whether the thread would take a signal that is pending. `mask`: what it blocks meanwhile instead
/// of its usual.
[[nodiscard]] bool takes_signal(const Thread& thread, std::optional<std::uint64_t> mask = {});

/// Whether the signal would end the thread's process: no handler, neither ignored nor kept for
/// later. Asked when it is about to be delivered, for one whose default is to end.
[[nodiscard]] bool ends_process(const Thread& thread, int signal);

// The calls.
[[nodiscard]] Outcome on_kill(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pause(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigsuspend(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigtimedwait(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
