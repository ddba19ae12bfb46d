#include "transport/realtime/prompt_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "transport/realtime/passing.h"

namespace anyrdma::transport::realtime {
namespace {

std::atomic<bool> marked{false};

/// Only where somebody heeds it: sanitizers know libc's functions, and what they mean for others.
bool is_marked() {
  return marked.load(std::memory_order_relaxed);
}

/// The same for a call that others may notice.
bool is_marked_deed() {
  if (!is_marked()) return false;
  if (&::anyrdma_end_passing != nullptr) ::anyrdma_end_passing();
  return true;
}

#ifdef __x86_64__

/// syscall(2) with a marked fourth argument. The mark must not outlive the call: r10 is nobody's
/// between calls, and one without a fourth argument, which may wait, would bear it as well.
long call(long number, int fd, const void* second, std::uint64_t third, int fourth = 0) {
  constexpr int kHalf = 32;
  constexpr long kErrorMin = -4095;
  long result = number;
  register std::uint64_t r10 asm("r10") =
      std::uint64_t{kPromptMark} << kHalf | static_cast<std::uint32_t>(fourth);
  register std::uint64_t r8 asm("r8") = 0;
  register std::uint64_t r9 asm("r9") = 0;
  asm volatile(
      "syscall\n\t"
      "xorl %%r10d, %%r10d"
      : "+a"(result), "+r"(r10)
      : "D"(static_cast<long>(fd)), "S"(second), "d"(third), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory", "cc");
  if (result >= 0 || result < kErrorMin) return result;
  errno = static_cast<int>(-result);
  return -1;
}

#else

/// No world is there to heed it.
long call(long number, int fd, const void* second, std::uint64_t third, int fourth = 0) {
  return ::syscall(number, fd, second, third, fourth, 0, 0);
}

#endif

}  // namespace

const std::array<int, 7>& prompt_calls() {
  static constexpr std::array<int, 7> kAll{SYS_sendto,   SYS_epoll_wait, SYS_write,  SYS_recvmmsg,
                                           SYS_sendmmsg, SYS_sendmsg,    SYS_recvmsg};
  return kAll;
}

void mark_prompt_calls() {
  marked.store(true, std::memory_order_relaxed);
}

ssize_t prompt_send(int fd, const void* bytes, std::size_t size, int flags) {
  return is_marked_deed() ? call(SYS_sendto, fd, bytes, size, flags)
                          : ::send(fd, bytes, size, flags);
}

ssize_t prompt_sendmsg(int fd, const msghdr* message, int flags) {
  if (!is_marked_deed()) return ::sendmsg(fd, message, flags);
  return call(SYS_sendmsg, fd, message, static_cast<std::uint32_t>(flags));
}

ssize_t prompt_recvmsg(int fd, msghdr* message, int flags) {
  if (!is_marked_deed()) return ::recvmsg(fd, message, flags);
  return call(SYS_recvmsg, fd, message, static_cast<std::uint32_t>(flags));
}

int prompt_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (!is_marked_deed()) return ::sendmmsg(fd, messages, count, flags);
  return static_cast<int>(call(SYS_sendmmsg, fd, messages, count, flags));
}

int prompt_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (!is_marked_deed()) return ::recvmmsg(fd, messages, count, flags, nullptr);
  return static_cast<int>(call(SYS_recvmmsg, fd, messages, count, flags));
}

int prompt_epoll(int fd, epoll_event* events, int count) {
  if (!is_marked()) return ::epoll_wait(fd, events, count, 0);
  return static_cast<int>(call(SYS_epoll_wait, fd, events, static_cast<std::uint32_t>(count)));
}

ssize_t prompt_write(int fd, const void* bytes, std::size_t size) {
  return is_marked_deed() ? call(SYS_write, fd, bytes, size) : ::write(fd, bytes, size);
}

}  // namespace anyrdma::transport::realtime
