#include "transport/realtime/guarded_access.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>

namespace anyrdma::transport::realtime {
namespace {

// Where the current access of this thread gives up; null: there is none. In the part of a thread's
// memory that is there from its start: a handler must not allocate.
[[gnu::tls_model("initial-exec")]] thread_local sigjmp_buf* volatile way_out = nullptr;

constexpr std::array kSignals{SIGSEGV, SIGBUS};
std::array<struct sigaction, kSignals.size()> before{};

std::size_t index_of(int signal) {
  return signal == kSignals[0] ? 0 : 1;
}

/// As the system would have done it.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = before[index_of(signal)];
  const bool has_handler = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
  if (!has_handler) {
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;
    // Ends the process here, by what it does again, or by what somebody has sent.
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    ::sigaction(signal, &end, nullptr);
    if (info->si_code <= 0) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
    return;
  }
  sigset_t blocked = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) ::sigaddset(&blocked, signal);
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // Only the system's own word (si_code > 0) is about what this thread has just done.
  if (way_out != nullptr && info->si_code > 0) siglongjmp(*way_out, 1);
  pass_on(signal, info, context);
}

/// A fault whose signal is blocked ends the process, whatever handler there is. Our own threads,
/// and many of programs', start with all signals blocked.
bool unblock() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kSignals) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  return true;
}

bool install() {
  for (const int signal : kSignals) {
    struct sigaction& old = before[index_of(signal)];
    ::sigaction(signal, nullptr, &old);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // Not blocked meanwhile, so that leaving it by a jump needs no system call to unblock it.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | (old.sa_flags & (SA_ONSTACK | SA_RESTART));
    ::sigaction(signal, &action, nullptr);
  }
  return true;
}

}  // namespace

bool guarded(void (*access)(void*), void* context) {
  [[maybe_unused]] static const bool installed = install();
  [[maybe_unused]] static thread_local const bool unblocked = unblock();
  sigjmp_buf* const outer = way_out;  // of what a signal handler of the program interrupted
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    way_out = outer;
    return false;
  }
  way_out = &here;
  access(context);
  way_out = outer;
  return true;
}

}  // namespace anyrdma::transport::realtime
