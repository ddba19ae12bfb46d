// Calls that the kernel would let wait for more after they have got something: recv(2) with
// MSG_WAITALL, and recvmmsg(2). The kernel makes them in pieces, of which none waits.
#pragma once

#include <cstdint>

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// After a call of the thread has returned: leads it to the entry of `call`. False: it stops
/// elsewhere, by a signal say, which has been taken care of; or it has ended.
[[nodiscard]] bool make_again(Thread& thread, const Call& call);

/// The call that has returned, in whatever pieces, with its own arguments.
[[nodiscard]] Outcome returned(Thread& thread, const Call& call, long result);

/// The same after make_again has said no.
[[nodiscard]] Outcome abandoned(Thread& thread, const Call& call, long result);

/// Whether the call may wait for more than one piece: recvfrom and recvmsg of a stream with
/// MSG_WAITALL, unless it only looks.
[[nodiscard]] bool takes_all(const Descriptor& descriptor, std::uint64_t flags);

/// Waits until a stream has that many bytes to look at: TCP's MSG_PEEK with MSG_WAITALL.
[[nodiscard]] Outcome await_all(Thread& thread, const Descriptor& descriptor, std::uint64_t bytes);

/// recvfrom and recvmsg with MSG_WAITALL, on a descriptor that may wait.
[[nodiscard]] Outcome receive_all(Thread& thread, const Call& call, const Descriptor& descriptor);

/// recvmmsg on a descriptor that may wait.
[[nodiscard]] Outcome receive_many(Thread& thread, const Call& call, const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
