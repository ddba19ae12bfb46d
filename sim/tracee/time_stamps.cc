#include "sim/tracee/time_stamps.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cerrno>
#include <csignal>

namespace anyrdma::sim::tracee {
namespace {

/// In a process of its own. The handlers are not ours to be run there.
[[noreturn]] void read_what_is_forbidden() {
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGSEGV, SIG_DFL);
  sigset_t fault;
  ::sigemptyset(&fault);
  ::sigaddset(&fault, SIGSEGV);
  ::sigprocmask(SIG_UNBLOCK, &fault, nullptr);
  if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0) (void)__rdtsc();
  ::_exit(0);
}

bool try_it() {
  const pid_t child = ::fork();
  if (child == 0) read_what_is_forbidden();
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

}  // namespace

bool time_stamps_can_be_forbidden() {
  static const bool can = try_it();
  return can;
}

}  // namespace anyrdma::sim::tracee
