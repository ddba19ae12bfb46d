// What a program learns of the machine and of other processes: names and numbers.
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_uname(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sysinfo(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_getcpu(Thread& thread, const Call& call);
/// A host has two processors, whatever the machine has. Where a thread runs is not its business.
[[nodiscard]] Outcome on_sched_getaffinity(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sched_setaffinity(Thread& thread, const Call& call);
/// What proc(5) says of a thread, and the processors that it may use with it, is about to be read:
/// it says what it would say if they were not kept to one (tracee::OneProcessor).
void before_reading(Thread& thread, const Descriptor& descriptor);
/// wait4 and waitid.
[[nodiscard]] Outcome on_wait4(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_waitid(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
