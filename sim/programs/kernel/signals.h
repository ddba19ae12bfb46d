// Signals between programs, and the interruption of waits by signals. The kernel stores and
// delivers the signals; the supervisor ensures that it does so when the receiving thread runs.
// Source: signal(7).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Sends a signal to the thread `thread` of a process; 0: to the process, for any of its threads.
void send_signal(Sandbox& sandbox, Process& process, pid_t thread, int signal);
/// Sends the signal of a timer (timer_create(2)), with the timer's number and the value that the
/// program gave it.
void send_timer_signal(Sandbox& sandbox, Process& process, pid_t thread, int signal, int timer,
                       std::uint64_t value);

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

/// Returns the process id, in the outermost PID namespace, of a pidfd of the thread; 0: the
/// descriptor is not a pidfd.
[[nodiscard]] pid_t process_of_descriptor(const Thread& thread, int pidfd);

/// Returns the signals that are pending for the thread or its process, one bit each as in sigset_t.
[[nodiscard]] std::uint64_t pending_signals(const Thread& thread);

// The calls.
[[nodiscard]] Outcome on_kill(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pause(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigsuspend(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigtimedwait(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
