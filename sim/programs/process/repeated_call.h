// System calls of a thread that the supervisor makes several times, or with other arguments first.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Call after a system call of the thread has returned: brings the thread to the beginning of
/// `call`. Returns false if the thread has ended, or has stopped for another reason such as a
/// signal, which was handled.
[[nodiscard]] bool make_again(Thread& thread, const Call& call);

/// Returns the outcome of a call after its last piece: the thread's registers contain the arguments
/// of the original call again, and `result`.
[[nodiscard]] Outcome returned(Thread& thread, const Call& call, long result);

/// The same after make_again has said no.
[[nodiscard]] Outcome abandoned(Thread& thread, const Call& call, long result);

/// Changes the arguments of the call that the thread is about to make.
void set_arguments(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
