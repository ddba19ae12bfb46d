// Handlers of system calls that wait for descriptors: reading, writing, poll(2) and similar calls.
// The descriptors belong to the kernel. The supervisor waits in virtual time, and lets the kernel
// execute the call once it no longer blocks.
#pragma once

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// read, readv, accept, recvfrom and all other calls that take data: the first argument is the
/// descriptor to wait for.
[[nodiscard]] Outcome on_reading(Thread& thread, const Call& call);
/// Like on_reading(), for calls with flags such as MSG_DONTWAIT, with which the call does not wait.
[[nodiscard]] Outcome on_recvfrom(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_recvmsg(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_recvmmsg(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_write(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_writev(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sendto(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sendmsg(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sendmmsg(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_poll(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_ppoll(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_select(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_pselect(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_epoll_wait(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_epoll_pwait2(Thread& thread, const Call& call);
/// flock, and fcntl's locks that wait.
[[nodiscard]] Outcome on_flock(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_lock(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
