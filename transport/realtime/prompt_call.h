// System calls of ours that return at once, whatever there is: in a simulated world, where system
// calls stop a thread because they may wait, these need not. They say so in the upper half of their
// fourth argument, of which the kernel looks at the lower half alone, or at nothing.
// Source: seccomp(2); syscall(2) of x86-64.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace anyrdma::transport::realtime {

/// The mark in the upper half of the fourth argument.
inline constexpr std::uint32_t kPromptMark = 0x70726d74;

/// Those calls that may bear the mark, by their numbers (sim/tracee/filter.h): what each has for a
/// fourth argument is a word, or nothing.
[[nodiscard]] const std::array<int, 7>& prompt_calls();

/// Marks this process's calls from now on, because a supervisor reads the mark. Any thread.
void mark_prompt_calls();

/// As the functions of libc, and no cancellation points once calls are marked. Neither the
/// descriptor's nor the call's flags may have them wait.
[[nodiscard]] ssize_t prompt_send(int fd, const void* bytes, std::size_t size, int flags);
[[nodiscard]] ssize_t prompt_sendmsg(int fd, const msghdr* message, int flags);
[[nodiscard]] ssize_t prompt_recvmsg(int fd, msghdr* message, int flags);
[[nodiscard]] int prompt_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
[[nodiscard]] int prompt_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
/// Returns the events that are ready now (epoll_wait without timeout).
[[nodiscard]] int prompt_epoll(int fd, epoll_event* events, int count);
/// Writes to an eventfd whose counter is far from its maximum.
[[nodiscard]] ssize_t prompt_write(int fd, const void* bytes, std::size_t size);

}  // namespace anyrdma::transport::realtime
