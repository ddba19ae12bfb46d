// Resource limits of processes. The kernel has them. Of the limits of POSIX queues, and of those
// that the kernel derives from the size of the machine's memory, programs see fixed numbers, until
// they set them themselves. Source: getrlimit(2).
#pragma once

#include <sys/resource.h>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

struct Process;

/// Returns RLIMIT_NPROC, RLIMIT_SIGPENDING or RLIMIT_MSGQUEUE as the process sees it.
[[nodiscard]] rlimit shown_limit(const Process& process, int resource);

[[nodiscard]] Outcome on_getrlimit(Thread& thread, const Call& call);
/// A limit of processor time has no effect, and a remark says so.
[[nodiscard]] Outcome on_setrlimit(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_prlimit(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
