// Handlers of system calls that belong to no larger subject, and the dispatch to all handlers.
#pragma once

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// Executes the handler of the call's row. A call without a row fails with ENOSYS and a remark.
[[nodiscard]] Outcome make_call(Thread& thread, const Call& call);

/// Whether the call depends on observers and on the machine alone, and must not show in the
/// schedule.
[[nodiscard]] bool is_aside(long number);

/// Whether the call makes memory executable. Such a call stops only for the search of its code.
[[nodiscard]] bool makes_code(long number);

// The kernel's calls.
[[nodiscard]] Outcome on_futex(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_exit(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_restart(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mmap(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mprotect(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mount(Thread& thread, const Call& call);

// The calls of anyrdma's libraries.
[[nodiscard]] Outcome on_poll_in_vain(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_point(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_clock_page(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_shared_entries(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_take_entries(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_question(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_memory(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
