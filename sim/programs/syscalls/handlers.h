// Handlers of system calls that belong to no larger subject.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

// The kernel's calls.
[[nodiscard]] Outcome on_futex(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_futex_waitv(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_exit(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_restart(Thread& thread, const Call& call);
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
