// The facts about the machine and other processes that a program can read: names and numbers.
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_uname(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sysinfo(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_getcpu(Thread& thread, const Call& call);
/// A host has two processors, independent of the machine. A thread's affinity does not decide where
/// it runs.
[[nodiscard]] Outcome on_sched_getaffinity(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sched_setaffinity(Thread& thread, const Call& call);
/// Call before a thread's proc(5) files or affinity are read. They then show the processors that
/// the thread may use without the limit to one of them (tracee::OneProcessor).
void before_reading(Thread& thread, const Descriptor& descriptor);
/// wait4 and waitid.
[[nodiscard]] Outcome on_wait4(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_waitid(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
