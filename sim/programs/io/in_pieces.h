// System calls that may receive something and then wait for more: recv(2) with MSG_WAITALL, and
// recvmmsg(2). The supervisor lets the kernel execute them in pieces, none of which waits.
#pragma once

#include <cstdint>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

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
