// Handlers of system calls that report the state of files, and which memory is in use.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// stat, lstat, fstat and newfstatat (file_states.h).
[[nodiscard]] Outcome on_stat(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_statx(Thread& thread, const Call& call);
/// Each page counts as one that is in memory.
[[nodiscard]] Outcome on_mincore(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
