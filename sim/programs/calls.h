// The handlers of a program's system calls.
#pragma once

#include <span>
#include <string>

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// Those that the kernel makes without our knowing: they neither wait nor tell the time, and their
/// results follow from what the program has done.
[[nodiscard]] std::span<const int> untouched_calls();

/// Whether what stops by that call has memory executable from now on: it stops only for us to look
/// at that (tracee::NewCode).
[[nodiscard]] bool makes_code(long number);

/// Does what the thread's call means in the world.
[[nodiscard]] Outcome make_call(Thread& thread, const Call& call);

/// "futex"; "system call 511" where no name is known.
[[nodiscard]] std::string name_of_call(long number);

}  // namespace anyrdma::sim::programs
