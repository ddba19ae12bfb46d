#include "sim/programs/kernel/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// Of kill(2), whose `target` may be a group.
bool is_meant(const Process& process, const Process& sender, pid_t target) {
  if (target == -1) return &process != &sender;
  if (target > 0) return process.number == target;
  const pid_t group = ::getpgid(process.pid);
  if (target == 0) return group == ::getpgid(sender.pid);
  const auto& all = sender.threads.front()->supervisor().processes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return each->host == sender.host && each->number == -target && each->pid == group;
  });
}

/// Who ends with this call. SIGKILL works when the kernel likes, and that is not to be seen.
std::vector<Process*> killed_by(const Thread& thread, const Call& call) {
  const bool names_both = call.number == SYS_tgkill || call.number == SYS_rt_tgsigqueueinfo;
  if (static_cast<int>(call.arguments[names_both ? 2 : 1]) != SIGKILL) return {};
  const auto target = static_cast<pid_t>(call.arguments[0]);
  const bool by_descriptor = call.number == SYS_pidfd_send_signal;
  const pid_t pid =
      by_descriptor ? process_of_descriptor(thread, static_cast<int>(call.arguments[0])) : 0;
  std::vector<Process*> all;
  for (const auto& each : thread.supervisor().processes()) {
    if (each->status || each->host != thread.process().host) continue;
    const bool meant = by_descriptor              ? each->pid == pid
                       : call.number == SYS_tkill ? find_thread(*each, target) != nullptr
                       : call.number == SYS_kill  ? is_meant(*each, thread.process(), target)
                                                  : each->number == target;
    if (meant) all.push_back(each.get());
  }
  return all;
}

}  // namespace

pid_t process_of_descriptor(const Thread& thread, int pidfd) {
  std::ifstream info("/proc/" + std::to_string(thread.process().pid) + "/fdinfo/" +
                     std::to_string(pidfd));
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("Pid:")) return std::stoi(line.substr(line.find('\t') + 1));
  }
  return 0;
}

void send_signal(Supervisor& supervisor, Process& process, pid_t thread, int signal) {
  if (process.status) return;
  const Thread* const one = thread == 0 ? nullptr : find_thread(process, thread);
  if (one != nullptr) {
    ::syscall(SYS_tgkill, process.pid, one->tid(), signal);
  } else {
    ::kill(process.pid, signal);
  }
  if (signal == SIGKILL) {
    Process* const killed = &process;
    supervisor.await_ends({&killed, 1});
  }
  supervisor.interrupt_waits();
}

void send_timer_signal(Supervisor& supervisor, Process& process, pid_t thread, int signal,
                       int timer, std::uint64_t value) {
  if (process.status) return;
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_TIMER;
  info.si_timerid = timer;
  info.si_value.sival_ptr = reinterpret_cast<void*>(value);
  const Thread* const one = thread == 0 ? nullptr : find_thread(process, thread);
  if (one != nullptr) {
    ::syscall(SYS_rt_tgsigqueueinfo, process.pid, one->tid(), signal, &info);
  } else {
    ::syscall(SYS_rt_sigqueueinfo, process.pid, signal, &info);
  }
  if (signal == SIGKILL) {
    Process* const killed = &process;
    supervisor.await_ends({&killed, 1});
  }
  supervisor.interrupt_waits();
}

/// kill, tkill, tgkill, rt_sigqueueinfo, pidfd_send_signal ...: the kernel knows who is meant.
Outcome on_kill(Thread& thread, const Call& call) {
  const std::vector<Process*> killed = killed_by(thread, call);
  const auto done = thread.finish_call();
  if (!done || *done == 0) thread.supervisor().await_ends(killed);
  if (!done) return Outcome::over();
  thread.supervisor().interrupt_waits();
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
