// Handlers of system calls by which a program reads facts about the machine and other processes.
// The simulator answers with fixed values.
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_uname(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sysinfo(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_getcpu(Thread& thread, const Call& call);
/// A simulated host has two processors, whatever the real machine has. The affinity of a thread has
/// no effect on where it runs.
[[nodiscard]] Outcome on_sched_getaffinity(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sched_setaffinity(Thread& thread, const Call& call);
/// Call before a program reads proc(5) files or the affinity of a thread. The kernel then shows the
/// processors allowed to the thread, without the supervisor's restriction to one
/// (tracee::OneProcessor).
void before_reading(Thread& thread, const Descriptor& descriptor);
/// wait4 and waitid.
[[nodiscard]] Outcome on_wait4(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_waitid(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
