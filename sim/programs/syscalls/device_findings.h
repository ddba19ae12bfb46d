// What the device of a process reports of its program: see transport/fault/plan/finding_call.h.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_device_finding(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
