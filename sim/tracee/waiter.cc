#include "sim/tracee/waiter.h"

#include <sys/wait.h>

#include <cerrno>

namespace anyrdma::sim::tracee {
namespace {

/// With __WCLONE, the kernel reports traced threads and children that send no SIGCHLD at their end.
/// Other children of the process, from fork(2) or popen(3), keep their status until the caller
/// fetches it. With __WNOTHREAD, it reports only what this thread traces or has made. Source:
/// wait(2); eligible_child in the kernel's kernel/exit.c, since Linux 4.7.
constexpr auto kTraced = static_cast<int>(__WCLONE | __WNOTHREAD);

}  // namespace

verbs::Result<Stop> Waiter::next() {
  ticker_.begin();
  int status = 0;
  pid_t tid = 0;
  int error = 0;
  do {
    tid = ::waitpid(-1, &status, kTraced);
    error = errno;
  } while (tid < 0 && error == EINTR && !ticker_.has_ticked());  // a handler of others has run
  ticker_.end();
  if (tid < 0) return verbs::errno_code(error);
  return stop_of(tid, status);
}

verbs::Result<Stop> Waiter::next_now() {
  int status = 0;
  const pid_t tid = ::waitpid(-1, &status, kTraced | WNOHANG);
  if (tid > 0) return stop_of(tid, status);
  return verbs::errno_code(tid == 0 ? EAGAIN : errno);
}

}  // namespace anyrdma::sim::tracee
