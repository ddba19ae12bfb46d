#include "tools/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace anyrdma::tools {
namespace {

/// All signals wait for sigwaitinfo(), and children are waited for, whatever was so before.
class SignalsTaken {
 public:
  SignalsTaken() {
    sigfillset(&all_);
    ::sigprocmask(SIG_SETMASK, &all_, &mask_);
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &plain, &child_action_);
  }
  ~SignalsTaken() { give_back(); }
  SignalsTaken(const SignalsTaken&) = delete;
  SignalsTaken& operator=(const SignalsTaken&) = delete;

  void give_back() const {
    ::sigaction(SIGCHLD, &child_action_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  [[nodiscard]] siginfo_t next() const {
    siginfo_t info{};
    while (::sigwaitinfo(&all_, &info) < 0) continue;  // interrupted: it was stopped and continued
    return info;
  }

 private:
  sigset_t all_{};
  sigset_t mask_{};
  struct sigaction child_action_ {};
};

[[noreturn]] void be_child(const SignalsTaken& signals, pid_t parent, int report,
                           const std::function<Exit()>& start) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(Exit::kFailed));  // it came too late
  signals.give_back();
  const auto why = static_cast<unsigned char>(start());
  (void)!::write(report, &why, sizeof why);
  ::_exit(why);
}

bool comes_from_keyboard(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// What the terminal sends, all of its foreground gets: the child, too.
void pass_on(const siginfo_t& info, pid_t child) {
  const bool sent = info.si_code <= 0;
  if (sent && info.si_code == SI_QUEUE) {
    ::sigqueue(child, info.si_signo, info.si_value);
  } else if (sent) {
    ::kill(child, info.si_signo);
  }
  if (comes_from_keyboard(info.si_signo)) ::raise(SIGSTOP);  // so that the shell goes on
}

/// The status of a child that has ended.
std::optional<int> take_end(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
    if (!WIFSTOPPED(status)) return status;
    if (WSTOPSIG(status) != SIGSTOP) continue;
    std::fprintf(stderr, "anyrdma: the program is stopped. `kill -CONT %d` continues it.\n",
                 static_cast<int>(child));
  }
  return std::nullopt;
}

int wait_for_end(const SignalsTaken& signals, pid_t child) {
  while (true) {
    const siginfo_t info = signals.next();
    if (info.si_signo != SIGCHLD) {
      pass_on(info, child);
    } else if (const auto status = take_end(child)) {
      return *status;
    }
  }
}

}  // namespace

verbs::Result<Ending> run_child(const std::function<Exit()>& start) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return verbs::errno_code(errno);
  std::fflush(nullptr);
  const SignalsTaken signals;
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  const int error = errno;
  if (child == 0) be_child(signals, self, report[1], start);
  ::close(report[1]);
  Ending ending;
  unsigned char why = 0;
  // Nothing comes once the program has begun.
  if (child > 0 && ::read(report[0], &why, sizeof why) == sizeof why) {
    ending.not_started = static_cast<Exit>(why);
  }
  ::close(report[0]);
  if (child < 0) return verbs::errno_code(error);
  ending.status = wait_for_end(signals, child);
  return ending;
}

int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  return 128 + signal;  // not reached: each that ends a child ends us
}

}  // namespace anyrdma::tools
