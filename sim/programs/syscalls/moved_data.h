// Calls that move data between descriptors within the kernel, and reads and writes with flags. The
// kernel makes each as if nothing might wait, and the thread waits in virtual time between these
// attempts. Source: splice(2), tee(2), vmsplice(2), sendfile(2), preadv2(2).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_splice(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_tee(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_vmsplice(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sendfile(Thread& thread, const Call& call);
/// Without an offset as readv(2) and writev(2); with an offset the kernel never waits.
[[nodiscard]] Outcome on_preadv2(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pwritev2(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
