// System calls in which a thread sleeps in the kernel although the supervisor expected no wait:
// System V and POSIX queues, semaphores, splice(2), a full backlog. The supervisor interrupts such
// a call, lets the thread wait in virtual time, and makes it retry the call. Source: signal(7),
// "Interruption of system calls"; ptrace(2), PTRACE_INTERRUPT.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <optional>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::programs {

/// Returns the call that an interrupted thread was making, if the call can be repeated without
/// loss.
[[nodiscard]] std::optional<tracee::Call> blocked_call_of(const user_regs_struct& registers);

/// Returns the number of the system call in which a thread sleeps. nullopt: the thread sleeps in
/// none. Reads /proc.
[[nodiscard]] std::optional<long> call_in_kernel(pid_t tid);

/// Whether the supervisor may interrupt the system call in which a thread sleeps. False for a call
/// that would then return with only a part of its work done, such as recv(2) with MSG_WAITALL.
/// Reads /proc.
[[nodiscard]] bool may_interrupt_call(pid_t tid);

}  // namespace anyrdma::sim::programs
