// Handlers of system calls that belong to no larger subject, and the dispatch to all handlers.
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// Executes the handler of a system call in the table (table.h). A call that is not in the table
/// fails with ENOSYS, and the user gets a remark.
[[nodiscard]] Outcome make_call(Thread& thread, const Call& call);

/// Whether programs make a system call more or less often depending on the machine, or on how the
/// run is observed (for example the report of a finding). Such a call is no scheduling point.
[[nodiscard]] bool is_aside(long number);

/// Whether a system call makes memory executable. Such a call stops the thread only so that the
/// supervisor can search the new code for instructions to replace.
[[nodiscard]] bool makes_code(long number);

/// Whether a system call can create a System V or POSIX object. Such a call stops the thread only
/// so that the supervisor knows that there are such objects.
[[nodiscard]] bool makes_object(long number);

// The kernel's calls.
[[nodiscard]] Outcome on_futex(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_exit(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_restart(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mmap(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mprotect(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mount(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_new_object(Thread& thread, const Call& call);

// The calls of anyrdma's libraries.
[[nodiscard]] Outcome on_poll_in_vain(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_point(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_clock_page(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_shared_entries(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_take_entries(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_question(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_memory(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
