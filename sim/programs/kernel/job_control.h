// Job control: processes that a signal stops, and that SIGCONT continues; terminals that a process
// in the background may not read. The kernel stops the processes and reports that to their parents;
// the supervisor keeps a stopped thread from running. Source: signal(7), ptrace(2), wait(2).
#pragma once

#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Call when the kernel reports that it has stopped the thread. Makes the other threads of the
/// process stop, too. Once all have stopped, wakes a parent that waits for its children.
void on_stopped(Thread& thread);
/// Whether a signal has stopped the process, or is about to stop all of its threads.
[[nodiscard]] bool is_stopped(const Process& process);
/// Lets a stopped process run again if SIGCONT is pending for it. False: it is not stopped, or
/// SIGCONT is not pending.
bool continue_if_told(Process& process);
/// Notes that a parent has received the report of a stop or of a continuation.
void note_job_reported(Process& process);
/// Whether a report of a stop or of a continuation is there for a parent that waits with
/// `options`: WUNTRACED (WSTOPPED) and WCONTINUED.
[[nodiscard]] bool has_job_report(const Process& process, int options);
/// Whether the descriptor is the terminal of the thread's session, and another process group is in
/// its foreground: a read then fails or stops the process at once.
[[nodiscard]] bool is_in_background(const Thread& thread, const Descriptor& descriptor);
/// Whether the descriptor is the end of a pseudo terminal at which its user types, and the terminal
/// is that of a session: what is typed may be a signal, such as Ctrl-C.
[[nodiscard]] bool is_other_end_of_terminal(const Descriptor& descriptor);
/// Makes the thread's call, which writes to such an end, and the signals that it sends.
[[nodiscard]] Outcome type(Thread& thread, const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
