#include "transport/rxe/last_will.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

namespace anyrdma::transport::rxe {
namespace {

constexpr int kLife = 0;    ///< at its end when the process has ended
constexpr int kSocket = 1;  ///< to the kernel

/// Another process, which cannot use anything that a lock protects: threads of the first may hold
/// it. Only system calls.
[[noreturn]] void execute(const nlmsghdr& message, const char* condition, int life, int socket) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  ::setsid();  // what ends the other's terminal is not meant for us
  const int away = ::dup(socket);
  ::dup2(life, kLife);
  ::dup2(away, kSocket);
  ::syscall(SYS_close_range, kSocket + 1, UINT_MAX, 0);
  char nothing = 0;
  while (::read(kLife, &nothing, 1) < 0 && errno == EINTR) continue;
  if (::access(condition, F_OK) == 0) {
    static_cast<void>(::send(kSocket, &message, message.nlmsg_len, 0));
  }
  ::_exit(0);
}

/// fork() would run handlers and, at the end, send the application a signal; wait() would find it.
pid_t fork_unseen() {
  return static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

verbs::Result<void> send_after_the_end(nl_msg& message, const std::string& condition) {
  nlmsg_hdr(&message)->nlmsg_flags |= NLM_F_REQUEST;
  std::array<int, 2> life{};
  if (::pipe2(life.data(), O_CLOEXEC) != 0) return verbs::errno_code(errno);
  const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
  int error = socket < 0 ? errno : 0;
  if (socket >= 0) {
    const pid_t child = fork_unseen();
    if (child == 0) execute(*nlmsg_hdr(&message), condition.c_str(), life[0], socket);
    if (child < 0) error = errno;
    ::close(socket);
  }
  ::close(life[0]);
  if (error == 0) return {};  // life[1] stays open until the process ends
  ::close(life[1]);
  return verbs::errno_code(error);
}

}  // namespace anyrdma::transport::rxe
