// Memory that becomes executable: the supervisor searches it for instructions to replace
// (sim/programs/patching).
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Call when the thread has stopped after a system call that may have made memory of its process
/// executable. Searches the new code for instructions to replace.
void look_at_new_code(Thread& thread);

/// Call when the thread's process has begun to execute a program.
void look_at_new_program(Thread& thread);

/// Also maps huge pages (sim/programs/kernel/huge_pages.h).
[[nodiscard]] Outcome on_mmap(Thread& thread, const Call& call);
/// mprotect and pkey_mprotect.
[[nodiscard]] Outcome on_mprotect(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
