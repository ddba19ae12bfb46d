// The nice values of threads. Programs see the nice value with which the command was started as 0.
// The kernel keeps the values, each of them that of the command plus what the program has set.
// Source: getpriority(2), sched_setattr(2), sched(7).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Returns the nice value with which the command was started.
[[nodiscard]] int nice_of_command();

[[nodiscard]] Outcome on_getpriority(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_setpriority(Thread& thread, const Call& call);
/// The time slice of a thread, which Linux 6.12 and later report, is 0 as on earlier kernels.
[[nodiscard]] Outcome on_sched_getattr(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sched_setattr(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
