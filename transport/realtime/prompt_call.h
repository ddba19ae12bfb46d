// System calls of this library that never wait. The simulator stops a thread at a system call that
// may wait. It need not stop a thread at these calls, which have a mark in the upper half of their
// fourth argument. The kernel ignores that half. Source: seccomp(2); syscall(2) of x86-64.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace anyrdma::transport::realtime {

/// The mark in the upper 32 bits of the fourth argument of a system call that never waits.
inline constexpr std::uint32_t kPromptMark = 0x70726d74;

/// Returns the numbers of the system calls that may have the mark (sim/tracee/filter.h). The fourth
/// argument of these calls has 32 bits, or is not used.
[[nodiscard]] const std::array<int, 7>& prompt_calls();

/// Makes the prompt_ functions of this file set the mark (kPromptMark) from now on. Call it if a
/// simulator traces the process. Any thread.
void mark_prompt_calls();

/// Like the libc functions of these names, but they never wait. Precondition: the flags of the
/// descriptor or of the call prevent waiting. With the mark (kPromptMark) the calls are no
/// cancellation points.
[[nodiscard]] ssize_t prompt_send(int fd, const void* bytes, std::size_t size, int flags);
[[nodiscard]] ssize_t prompt_sendmsg(int fd, const msghdr* message, int flags);
[[nodiscard]] ssize_t prompt_recvmsg(int fd, msghdr* message, int flags);
[[nodiscard]] int prompt_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
[[nodiscard]] int prompt_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
/// Returns the events that are ready now, as epoll_wait with timeout 0 does.
[[nodiscard]] int prompt_epoll(int fd, epoll_event* events, int count);
/// Writes to an eventfd. Precondition: its counter is far from its maximum, so that the call does
/// not wait.
[[nodiscard]] ssize_t prompt_write(int fd, const void* bytes, std::size_t size);

}  // namespace anyrdma::transport::realtime
