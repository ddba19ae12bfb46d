// Handlers of system calls by which a program reads facts about the machine and other processes.
// The answers are those of the host's description (sim/host_description.h), and fixed values.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_uname(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sysinfo(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_getcpu(Thread& thread, const Call& call);
/// The question which commands the kernel has.
[[nodiscard]] Outcome on_membarrier(Thread& thread, const Call& call);
/// statfs and fstatfs. The free space of disks is the same on each machine.
[[nodiscard]] Outcome on_statfs(Thread& thread, const Call& call);
/// readlink and readlinkat. Numbers of namespaces, sockets and pipes are the same in each run.
[[nodiscard]] Outcome on_readlink(Thread& thread, const Call& call);
/// wait4 and waitid.
[[nodiscard]] Outcome on_wait4(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_waitid(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
