#include "sim/programs/kernel/job_control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/programs/kernel/terminals.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

bool have_all_stopped(const Process& process) {
  return std::all_of(process.threads.begin(), process.threads.end(),
                     [](const auto& thread) { return thread->is_over() || thread->is_stopped(); });
}

void wake_parent(Process& process) {
  if (process.parent == nullptr) return;
  for (const auto& thread : process.parent->threads) {
    if (thread->waits_for_child()) thread->wake(Woken::kReady);
  }
}

}  // namespace

void on_stopped(Thread& thread) {
  Process& process = thread.process();
  process.job = Process::Job::kStopping;
  for (const auto& other : process.threads) {
    if (!other->is_over() && !other->is_stopped()) other->wake(Woken::kSignal);
  }
  if (have_all_stopped(process)) {
    process.job = Process::Job::kStopped;
    process.job_reported = false;
    wake_parent(process);
  }
  thread.supervisor().interrupt_waits();
}

bool is_stopped(const Process& process) {
  return process.job == Process::Job::kStopping || process.job == Process::Job::kStopped;
}

bool continue_if_told(Process& process) {
  if (!is_stopped(process)) return false;
  const auto alive = std::find_if(process.threads.begin(), process.threads.end(),
                                  [](const auto& thread) { return thread->is_stopped(); });
  constexpr std::uint64_t kContinue = std::uint64_t{1} << (SIGCONT - 1);
  if (alive == process.threads.end() || (pending_signals(**alive) & kContinue) == 0) return false;
  if (process.job == Process::Job::kStopped) {
    process.job_reported = false;
    process.job = Process::Job::kContinued;
  } else {
    process.job = Process::Job::kRuns;
  }
  for (const auto& thread : process.threads) {
    if (thread->is_stopped()) thread->wake(Woken::kReady);
  }
  wake_parent(process);
  return true;
}

void note_job_reported(Process& process) {
  process.job_reported = true;
}

bool has_job_report(const Process& process, int options) {
  if (process.job_reported) return false;
  if (process.job == Process::Job::kStopped) return (options & WUNTRACED) != 0;
  return process.job == Process::Job::kContinued && (options & WCONTINUED) != 0;
}

bool is_in_background(const Thread& thread, const Descriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  if (!is_terminal(descriptor)) return false;
  std::ifstream file("/proc/" + std::to_string(thread.process().pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // proc(5): after the name, which may have parentheses of its own, state, ppid, pgrp, session,
  // tty_nr, tpgid.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  char state = 0;
  long parent = 0;
  long group = 0;
  long session = 0;
  unsigned terminal = 0;
  long foreground = -1;
  if (!(rest >> state >> parent >> group >> session >> terminal >> foreground)) return false;
  constexpr unsigned kOwnTerminal = 5;  // the major number of /dev/tty
  const bool is_own = status.st_rdev == terminal || status.st_rdev == makedev(kOwnTerminal, 0);
  return terminal != 0 && is_own && group != foreground;
}

bool is_other_end_of_terminal(const Descriptor& descriptor) {
  const dev_t number = makedev(5, 2);  // /dev/ptmx
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  pid_t foreground = 0;
  return status.st_rdev == number && ::ioctl(descriptor.get(), TIOCGPGRP, &foreground) == 0 &&
         foreground > 0;
}

/// The kernel reads what is typed in a thread of its own. Whoever polls the terminal waits for it.
Outcome type(Thread& thread, const Descriptor& descriptor) {
  if (!thread.finish_call()) return Outcome::over();
  const Descriptor terminal(::ioctl(descriptor.get(), TIOCGPTPEER, O_RDONLY | O_NOCTTY));
  if (terminal) {
    pollfd wanted{.fd = terminal.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&wanted, 1, 0);
  }
  thread.supervisor().expect_signals();
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
