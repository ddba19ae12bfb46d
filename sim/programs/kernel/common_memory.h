// Memory that several threads or processes of a host have in common: what one of them writes there
// is no event of the simulation, and may be what another one polls for.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Call before a thread makes the call mmap(2). Notes whether other processes may read what the
/// process writes to the new memory.
void note_mapping(Thread& thread, const Call& call);
/// Whether a thread of the host that does not wait may write to memory that `thread` reads: another
/// thread of its process, or of a process with shared memory.
[[nodiscard]] bool others_may_write(const Thread& thread);

}  // namespace anyrdma::sim::programs
