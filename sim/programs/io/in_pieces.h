// System calls that may receive something and then wait for more: recv(2) with MSG_WAITALL, and
// recvmmsg(2). The supervisor lets the kernel execute them in pieces, none of which waits.
#pragma once

#include <cstdint>

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

/// Whether a call may wait for more than one piece: recvfrom(2) or recvmsg(2) on a stream with
/// MSG_WAITALL and without MSG_PEEK.
[[nodiscard]] bool takes_all(const Descriptor& descriptor, std::uint64_t flags);

/// Waits until a stream has `bytes` bytes to read: for TCP with MSG_PEEK and MSG_WAITALL.
[[nodiscard]] Outcome await_all(Thread& thread, const Descriptor& descriptor, std::uint64_t bytes);

/// Executes recvfrom(2) or recvmsg(2) with MSG_WAITALL in pieces, on a descriptor that may wait.
[[nodiscard]] Outcome receive_all(Thread& thread, const Call& call, const Descriptor& descriptor);

/// recvmmsg on a descriptor that may wait.
[[nodiscard]] Outcome receive_many(Thread& thread, const Call& call, const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
