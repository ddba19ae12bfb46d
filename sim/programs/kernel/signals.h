// Signals between programs, and the interruption of waits by signals. The kernel stores and
// delivers the signals; the supervisor ensures that it does so when the receiving thread runs.
// Source: signal(7).
#pragma once

#include <cstdint>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Sends a signal to the thread `thread` of a process; 0: to the process, for any of its threads.
void send_signal(Supervisor& supervisor, Process& process, pid_t thread, int signal);
/// Sends the signal of a timer (timer_create(2)), with the timer's number and the value that the
/// program gave it.
void send_timer_signal(Supervisor& supervisor, Process& process, pid_t thread, int signal,
                       int timer, std::uint64_t value);

/// Returns the process id, in the outermost PID namespace, of a pidfd of the thread; 0: the
/// descriptor is not a pidfd.
[[nodiscard]] pid_t process_of_descriptor(const Thread& thread, int pidfd);

// The calls.
[[nodiscard]] Outcome on_kill(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pause(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigsuspend(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_rt_sigtimedwait(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
