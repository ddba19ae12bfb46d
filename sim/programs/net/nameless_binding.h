// bind(2) of a Unix socket to no name, for which the kernel draws one (unix(7), autobind).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Binds a Unix socket to an abstract name that is the same in each run, if the program gives no
/// name. Other calls are the kernel's.
[[nodiscard]] Outcome bind_nameless(Thread& thread, const Call& call, const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
