#include "sim/tracee/launch.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "sim/tracee/filter.h"
#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Plan {
  const LaunchOptions& options;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  sock_fprog filter;
  int gate;               ///< readable once it is traced
  int report;             ///< for the errno of what failed
  std::string directory;  ///< whole: who enters a realm is at its root
};

bool put(int from, int at) {
  if (from < 0) return true;
  // One that is where it belongs already would be closed by execve.
  return from == at ? ::fcntl(from, F_SETFD, 0) == 0 : ::dup2(from, at) >= 0;
}

bool prepare(const Plan& plan) {
  char byte = 0;
  if (::read(plan.gate, &byte, 1) != 1) return false;
  const LaunchOptions& options = plan.options;
  if (::chdir(plan.directory.c_str()) != 0) return false;
  if (!put(options.input, 0) || !put(options.output, 1) || !put(options.error, 2)) return false;
  if (::personality(ADDR_NO_RANDOMIZE) < 0) return false;
  ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan.filter) == 0;
}

/// After fork, in the child: only what is safe there.
[[noreturn]] void become(const Plan& plan) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (prepare(plan))
    ::execve(plan.options.path.c_str(), plan.arguments.data(), plan.environment.data());
  const int error = errno;
  // write(2) would stop at the filter.
  (void)!::pwrite(plan.report, &error, sizeof error, 0);
  ::_exit(127);
}

pid_t fork_here(const Plan& plan) {
  const pid_t pid = ::fork();
  if (pid == 0) become(plan);
  return pid;
}

/// As fork(2), but of the caller's parent. Who belongs to the first process of the system, and not
/// to us, is gone when that likes to look; its realm cannot end before.
pid_t fork_sibling() {
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
}

/// Only what is forked by who has entered a realm belongs to it.
pid_t fork_there(const Plan& plan) {
  const pid_t between = ::fork();
  if (between < 0) return -1;
  if (between == 0) {
    pid_t pid = -1;
    int error = 0;
    if (!plan.options.realm->enter() || (pid = fork_sibling()) < 0) error = errno;
    if (pid == 0) become(plan);
    // Its number as this process knows it, which has not moved itself.
    (void)!::pwrite(plan.report, &pid, sizeof pid, 0);
    ::_exit(error);
  }
  int status = 0;
  while (::waitpid(between, &status, 0) < 0 && errno == EINTR) continue;
  pid_t pid = -1;
  if (::pread(plan.report, &pid, sizeof pid, 0) != sizeof pid || pid < 0) {
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    return -1;
  }
  (void)!::ftruncate(plan.report, 0);
  return pid;
}

/// Runs the new process to the program's first instruction. 0, or what was in the way.
int lead_to_program(pid_t pid, int report) {
  const Tracee tracee(pid);
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, __WALL) != pid) {
      if (errno == EINTR) continue;
      return errno;
    }
    const Stop stop = stop_of(pid, status);
    if (stop.kind == StopKind::kProgram) return 0;
    if (stop.kind == StopKind::kGone) {
      int error = 0;
      if (::pread(report, &error, sizeof error, 0) != sizeof error) error = ECHILD;
      return error;
    }
    tracee.run(stop.kind == StopKind::kSignal ? stop.detail : 0);
  }
}

}  // namespace

verbs::Result<pid_t> launch(const LaunchOptions& options, std::span<const int> untouched) {
  const std::vector<sock_filter> filter = filter_of(untouched);
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  const Descriptor gate_out(gate[0]);
  Descriptor gate_in(gate[1]);
  const Descriptor report(::memfd_create("launch", MFD_CLOEXEC));
  if (report.get() < 0) return verbs::errno_code(errno);
  const Plan plan{.options = options,
                  .arguments = pointers(options.arguments),
                  .environment = pointers(options.environment),
                  .filter = {.len = static_cast<unsigned short>(filter.size()),
                             .filter = const_cast<sock_filter*>(filter.data())},
                  .gate = gate_out.get(),
                  .report = report.get(),
                  .directory = options.directory.empty()
                                   ? std::filesystem::current_path().string()
                                   : std::filesystem::absolute(options.directory).string()};
  const pid_t pid = options.realm == nullptr ? fork_here(plan) : fork_there(plan);
  if (pid < 0) return verbs::errno_code(errno);
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, trace_options()) != 0) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, __WALL);  // ECHILD, if it is of a realm
    return verbs::errno_code(error);
  }
  (void)!::write(gate_in.get(), "g", 1);
  if (const int error = lead_to_program(pid, report.get()); error != 0)
    return verbs::errno_code(error);
  return pid;
}

}  // namespace anyrdma::sim::tracee
