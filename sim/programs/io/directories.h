// Directories, whose entries programs read in the order of their names. The order of a disk's
// directory depends on the disk, and that of one in memory on the kernel. Source: getdents(2).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// getdents and getdents64. Directories of /proc and of FUSE are read by the kernel.
[[nodiscard]] Outcome on_getdents(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
