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
/// The same of a timer (timer_create(2)), with its number and the value that the program gave it.
void send_timer_signal(Sandbox& sandbox, Process& process, pid_t thread, int signal, int timer,
                       std::uint64_t value);

/// Whether a pending signal would be delivered to the thread. `mask`: the signals that it blocks
/// during the call, instead of its usual mask.
[[nodiscard]] bool takes_signal(const Thread& thread, std::optional<std::uint64_t> mask = {});

/// Whether the signal would end the thread's process: no handler, neither ignored nor kept for
/// later. Asked when it is about to be delivered, for one whose default is to end.
[[nodiscard]] bool ends_process(const Thread& thread, int signal);

/// Whether a signal would have no effect on the thread's process: no handler, and no end.
[[nodiscard]] bool ignores(const Thread& thread, int signal);

/// The process of a pidfd of the thread's, as the outermost namespace knows it; 0: it is none.
[[nodiscard]] pid_t process_of_descriptor(const Thread& thread, int pidfd);

/// Those that are pending for the thread or for any of its process, a bit each as of sigset_t.
[[nodiscard]] std::uint64_t pending_signals(const Thread& thread);

// The calls.
[[nodiscard]] Outcome on_kill(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pause(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigsuspend(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigtimedwait(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
