#include "sim/programs/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include "sim/programs/clocks.h"
#include "sim/programs/process.h"
#include "sim/programs/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

constexpr std::uint64_t kIgnoredByDefault =
    bit_of(SIGCHLD) | bit_of(SIGURG) | bit_of(SIGWINCH) | bit_of(SIGCONT);

/// The kernel's account of a thread's signals.
struct Account {
  std::uint64_t pending = 0;  ///< for it or for any thread
  std::uint64_t blocked = 0;
  std::uint64_t ignored = 0;
  std::uint64_t caught = 0;
};

Account account_of(pid_t tid) {
  Account account;
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);) {
    const auto mask = [&] { return std::stoull(line.substr(line.find('\t') + 1), nullptr, 16); };
    if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:")) account.pending |= mask();
    if (line.starts_with("SigBlk:")) account.blocked = mask();
    if (line.starts_with("SigIgn:")) account.ignored = mask();
    if (line.starts_with("SigCgt:")) account.caught = mask();
  }
  return account;
}

}  // namespace

bool takes_signal(const Thread& thread, std::optional<std::uint64_t> mask) {
  const Account account = account_of(thread.tid());
  const std::uint64_t ignored = account.ignored | (kIgnoredByDefault & ~account.caught);
  return (account.pending & ~mask.value_or(account.blocked) & ~ignored) != 0;
}

void send_signal(Sandbox& sandbox, Process& process, pid_t thread, int signal) {
  if (process.status) return;
  const Thread* const one = thread == 0 ? nullptr : sandbox.find_thread(process, thread);
  if (one != nullptr) {
    ::syscall(SYS_tgkill, process.pid, one->tid(), signal);
  } else {
    ::kill(process.pid, signal);
  }
  sandbox.interrupt_waits();
}

/// kill, tkill, tgkill, rt_sigqueueinfo, pidfd_send_signal ...: the kernel knows who is meant.
Outcome on_kill(Thread& thread, const Call& /*call*/) {
  if (!thread.finish_call()) return Outcome::over();
  thread.sandbox().interrupt_waits();
  return Outcome::made();
}

Outcome on_pause(Thread& thread, const Call& /*call*/) {
  if (takes_signal(thread)) return Outcome::made();
  return thread.wait("a signal") == Woken::kOver ? Outcome::over() : Outcome::made();
}

Outcome on_rt_sigsuspend(Thread& thread, const Call& call) {
  const auto mask = thread.tracee().peek<std::uint64_t>(call.arguments[0]);
  if (!mask) return Outcome::answered(-EFAULT);
  thread.set_mask(*mask);
  const bool over = !takes_signal(thread, *mask) && thread.wait("a signal") == Woken::kOver;
  thread.set_mask(std::nullopt);
  return over ? Outcome::over() : Outcome::made();
}

/// The signals are blocked, so they stay pending until the kernel hands one over.
Outcome on_rt_sigtimedwait(Thread& thread, const Call& call) {
  const auto wanted = thread.tracee().peek<std::uint64_t>(call.arguments[0]);
  if (!wanted) return Outcome::answered(-EFAULT);
  std::optional<Instant> deadline;
  if (call.arguments[2] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[2]);
    if (!limit) return Outcome::answered(-EFAULT);
    deadline = thread.now() + duration_of(*limit);
  }
  thread.set_mask(~*wanted);
  const Woken woken =
      takes_signal(thread, ~*wanted) ? Woken::kReady : thread.wait("a signal", deadline);
  thread.set_mask(std::nullopt);
  if (woken == Woken::kOver) return Outcome::over();
  return woken == Woken::kTimeout ? Outcome::answered(-EAGAIN) : Outcome::made();
}

}  // namespace anyrdma::sim::programs
