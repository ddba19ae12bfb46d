// System V and POSIX queues and semaphores of the kernel.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Handles a system call that the kernel executes and that may block: msgrcv(2), semop(2),
/// mq_timedsend(2) and others of their kinds. Timeouts are in virtual time.
[[nodiscard]] Outcome on_kernel_queue(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
