#include "sim/tracee/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/no_signals.h"
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
  int report;             ///< for the errno of what failed, or a number
  std::string directory;  ///< whole: who enters a realm is at its root
};

/// A system call as it is: who shares our memory shares our errno.
long plain(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  long result = number;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = 0;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
}

long plain(long number, const void* a, long b = 0, long c = 0) {
  return plain(number, reinterpret_cast<long>(a), b, c);
}

long put(int from, int at) {
  if (from < 0) return 0;
  // One that is where it belongs already would be closed by execve.
  return from == at ? plain(SYS_fcntl, from, F_SETFD, 0) : plain(SYS_dup2, from, at);
}

/// As of rt_sigaction(2).
struct KernelAction {
  std::uint64_t handler, flags, restorer, mask;
};

/// Nor is one its own that came, blocked so far, while it was still of our group: to ignore it is
/// to drop it.
void forget_signals() {
  KernelAction ignored{};
  ignored.handler = reinterpret_cast<std::uint64_t>(SIG_IGN);
  const KernelAction usual{};
  for (long signal = 1; signal < NSIG; ++signal) {
    (void)plain(SYS_rt_sigaction, signal, reinterpret_cast<long>(&ignored), 0, sizeof usual.mask);
    (void)plain(SYS_rt_sigaction, signal, reinterpret_cast<long>(&usual), 0, sizeof usual.mask);
  }
  const std::uint64_t none = 0;
  (void)plain(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
}

/// What a program of root keeps: rights over files, users and processes of its own, over the
/// network of its namespace, and over its limits and locked memory. Not kept are rights over the
/// machine, such as mounts, devices, modules, the kernel's log and other processes' memory. Source:
/// capabilities(7).
constexpr std::array kKept{
    CAP_CHOWN,     CAP_DAC_OVERRIDE, CAP_FOWNER,           CAP_FSETID,    CAP_KILL,    CAP_SETGID,
    CAP_SETUID,    CAP_SETPCAP,      CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK,
    CAP_IPC_OWNER, CAP_SYS_NICE,     CAP_SYS_RESOURCE,     CAP_SETFCAP};

/// Without effect for a user who has no capabilities. A later execve(2) of root gives it no more
/// than the bounding set has.
void drop_capabilities() {
  constexpr int kEnd = 64;
  std::uint64_t kept = 0;
  for (const int each : kKept) kept |= std::uint64_t{1} << each;
  for (int each = 0; each < kEnd; ++each)
    if ((kept >> each & 1) == 0) (void)plain(SYS_prctl, PR_CAPBSET_DROP, each);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> all{};
  if (plain(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(all.data())) < 0)
    return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto part = static_cast<std::uint32_t>(kept >> (32 * i));
    all[i].effective &= part;
    all[i].permitted &= part;
    all[i].inheritable &= part;
  }
  (void)plain(SYS_capset, reinterpret_cast<long>(&header), reinterpret_cast<long>(all.data()));
}

/// The usual limits of open files, where the machine's are higher: programs size arrays by them,
/// or close as many descriptors. A program may raise its own limit again.
void lower_limits() {
  constexpr rlim_t kFiles = 1024;
  constexpr rlim_t kFilesMax = 524288;
  constexpr long kSelf = 0;
  constexpr long kResource = RLIMIT_NOFILE;
  rlimit limit{};
  if (plain(SYS_prlimit64, kSelf, kResource, 0, reinterpret_cast<long>(&limit)) < 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, kFiles);
  limit.rlim_max = std::min(limit.rlim_max, kFilesMax);
  (void)plain(SYS_prlimit64, kSelf, kResource, reinterpret_cast<long>(&limit));
}

/// The kernel counts the bytes of all POSIX queues of a user against this limit, whichever realm
/// they are in. Fails without CAP_SYS_RESOURCE.
void lift_limit_of_queues() {
  constexpr long kSelf = 0;
  constexpr long kResource = RLIMIT_MSGQUEUE;
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  (void)plain(SYS_prlimit64, kSelf, kResource, reinterpret_cast<long>(&none));
}

/// 0, or an errno, negative.
long prepare(const Plan& plan) {
  char byte = 0;
  if (plain(SYS_read, plan.gate, reinterpret_cast<long>(&byte), 1) != 1) return -ECHILD;
  const LaunchOptions& options = plan.options;
  long done = plain(SYS_chdir, plan.directory.c_str());
  if (done >= 0) done = put(options.input, 0);
  if (done >= 0) done = put(options.output, 1);
  if (done >= 0) done = put(options.error, 2);
  if (done >= 0) done = plain(SYS_personality, ADDR_NO_RANDOMIZE);
  if (done < 0) return done;
  (void)plain(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
  lift_limit_of_queues();
  drop_capabilities();
  lower_limits();
  done = plain(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
  if (done >= 0)
    done = plain(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, reinterpret_cast<long>(&plan.filter));
  return done;
}

/// In the new process, which shares our memory: nothing but system calls.
int become(void* given) {
  const Plan& plan = *static_cast<const Plan*>(given);
  // A terminal's signals are for us; they would end it before it is a program, and kill(2) of its
  // group would end us.
  (void)plain(SYS_setpgid);
  forget_signals();
  long error = prepare(plan);
  if (error >= 0) {
    error =
        plain(SYS_execve, plan.options.path.c_str(), reinterpret_cast<long>(plan.arguments.data()),
              reinterpret_cast<long>(plan.environment.data()));
  }
  const int positive = static_cast<int>(-error);
  // write(2) would stop at the filter.
  (void)plain(SYS_pwrite64, plan.report, reinterpret_cast<long>(&positive), sizeof positive);
  return 127;
}

/// For a process until it runs a program. To copy our memory, and to find out with each page that
/// either writes to that it is a copy, would take longer than all else that a launch does.
class Stack {
 public:
  [[nodiscard]] void* top() { return bytes_.get() + kBytes; }

 private:
  static constexpr std::size_t kBytes = 64 << 10;
  std::unique_ptr<std::byte[]> bytes_ = std::make_unique_for_overwrite<std::byte[]>(kBytes);
};

struct Between {
  Plan& plan;
  Stack& stack;
};

/// Enters the realm. As of fork(2) of our own parent is what it makes then: who belongs to the
/// first process of the system, and not to us, is gone when that likes to look; its realm cannot
/// end before.
int go_between(void* given) {
  const Between& between = *static_cast<const Between*>(given);
  const Plan& plan = between.plan;
  if (!plan.options.realm->enter()) return errno;
  const pid_t pid =
      ::clone(become, between.stack.top(), CLONE_VM | CLONE_PARENT | SIGCHLD, &between.plan);
  if (pid < 0) return errno;
  // Its number as this process knows it, which has not moved itself.
  (void)!::pwrite(plan.report, &pid, sizeof pid, 0);
  return 0;
}

/// Only what is made by who has entered a realm belongs to it.
pid_t make_there(Plan& plan, Stack& stack) {
  Stack own;
  Between between{plan, stack};
  // To enter other users' realm changes what others may do with a memory, which must not be ours.
  const int sharing = plan.options.realm->has_own_users() ? 0 : CLONE_VM | CLONE_VFORK;
  const pid_t pid_between = ::clone(go_between, own.top(), sharing | SIGCHLD, &between);
  if (pid_between < 0) return -1;
  int status = 0;
  while (::waitpid(pid_between, &status, 0) < 0 && errno == EINTR) continue;
  pid_t pid = -1;
  if (::pread(plan.report, &pid, sizeof pid, 0) != sizeof pid || pid < 0) {
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    return -1;
  }
  (void)!::ftruncate(plan.report, 0);
  return pid;
}

pid_t make_process(Plan& plan, Stack& stack) {
  // The child shares our memory, so no handler of ours may run in it.
  const NoSignals undisturbed;
  if (plan.options.realm != nullptr) return make_there(plan, stack);
  return ::clone(become, stack.top(), CLONE_VM | SIGCHLD, &plan);
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

verbs::Result<pid_t> launch(const LaunchOptions& options, std::span<const CallRule> calls) {
  const std::vector<sock_filter> filter = filter_of(calls);
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return verbs::errno_code(errno);
  const Descriptor gate_out(gate[0]);
  Descriptor gate_in(gate[1]);
  const Descriptor report(::memfd_create("launch", MFD_CLOEXEC));
  if (report.get() < 0) return verbs::errno_code(errno);
  Plan plan{.options = options,
            .arguments = pointers(options.arguments),
            .environment = pointers(options.environment),
            .filter = {.len = static_cast<unsigned short>(filter.size()),
                       .filter = const_cast<sock_filter*>(filter.data())},
            .gate = gate_out.get(),
            .report = report.get(),
            .directory = options.directory.empty()
                             ? std::filesystem::current_path().string()
                             : std::filesystem::absolute(options.directory).string()};
  Stack stack;  // until it runs the program, or is gone
  const pid_t pid = make_process(plan, stack);
  if (pid < 0) return verbs::errno_code(errno);
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, trace_options()) != 0) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    // Its realm does not end before nothing is left of it.
    while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) continue;
    return verbs::errno_code(error);
  }
  (void)!::write(gate_in.get(), "g", 1);
  if (const int error = lead_to_program(pid, report.get()); error != 0)
    return verbs::errno_code(error);
  return pid;
}

}  // namespace anyrdma::sim::tracee
