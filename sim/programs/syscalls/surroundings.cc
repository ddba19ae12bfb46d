#include "sim/programs/syscalls/surroundings.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/job_control.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/kernel/told_files.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// Which children a call asks for: by their number, or by their process group as the outermost
/// namespace knows it.
struct Children {
  pid_t number = 0;  ///< 0: of any number
  pid_t group = 0;   ///< 0: of any group
  int options = 0;   ///< WUNTRACED and so on
};

/// The group that a program of the host knows by that number; -1: there is none.
pid_t group_of(const Thread& thread, pid_t number) {
  for (const auto& process : thread.supervisor().processes()) {
    const bool there = process->host == thread.process().host && process->number == number;
    if (!there) continue;
    // A group outlives the process that it is named after.
    for (const auto& each : thread.supervisor().processes()) {
      if (!each->waited_for && ::getpgid(each->pid) == process->pid) return process->pid;
    }
  }
  return -1;
}

/// The number of the process of a pidfd; -1: it is no such descriptor.
pid_t number_by_descriptor(const Thread& thread, int fd) {
  const pid_t pid = process_of_descriptor(thread, fd);
  for (const auto& process : thread.supervisor().processes()) {
    if (process->pid == pid) return process->number;
  }
  return -1;
}

/// Whether a child that the caller asks for has ended, stopped or continued, which it was not told
/// of; nullopt: there is no such child at all.
std::optional<bool> has_report(const Thread& thread, Children which) {
  bool any = false;
  for (const auto& process : thread.supervisor().processes()) {
    if (process->parent != &thread.process() || process->waited_for) continue;
    if (which.number > 0 && process->number != which.number) continue;
    if (which.group > 0 && ::getpgid(process->pid) != which.group) continue;
    any = true;
    if (process->status || has_job_report(*process, which.options)) return true;
  }
  if (!any) return std::nullopt;
  return false;
}

/// What a child has used of a processor and of memory depends on the machine. `before`: what the
/// program had where the kernel writes it; nullopt: nowhere.
void hide_usage(Thread& thread, std::uint64_t address, const std::optional<rusage>& before) {
  const auto after = before ? thread.tracee().peek<rusage>(address) : std::nullopt;
  if (after && std::memcmp(&*after, &*before, sizeof *after) != 0)
    (void)thread.tracee().poke(address, rusage{});
}

/// `usage`: where the kernel writes what the child has used; 0: nowhere.
Outcome wait_for_child(Thread& thread, Children which, bool no_waiting, bool leaves,
                       std::uint64_t usage) {
  while (!no_waiting) {
    const auto ended = has_report(thread, which);
    if (!ended || *ended) break;
    const Woken woken = thread.wait_for_child();
    if (woken == Woken::kOver) return Outcome::over();
    if (woken == Woken::kSignal) break;  // the kernel says EINTR, or that a child has ended
  }
  const auto before = usage == 0 ? std::nullopt : thread.tracee().peek<rusage>(usage);
  const auto pid = thread.finish_call();
  if (!pid) return Outcome::over();
  hide_usage(thread, usage, before);
  if (*pid == 0 && !thread.look_in_vain()) return Outcome::over();
  for (const auto& process : thread.supervisor().processes()) {
    if (leaves || process->parent != &thread.process() || process->number != *pid) continue;
    if (process->status) process->waited_for = true;
    note_job_reported(*process);
  }
  return Outcome::made();
}

}  // namespace

Outcome on_uname(Thread& thread, const Call& call) {
  utsname names{};
  const auto set = [](auto& field, const std::string& value) {
    std::memcpy(field, value.data(), std::min(value.size(), sizeof field - 1));
  };
  set(names.sysname, "Linux");
  set(names.nodename, thread.process().host->name());
  set(names.release, thread.process().host->description().kernel);
  set(names.version, "#1 SMP");
  set(names.machine, "x86_64");
  return Outcome::answered(thread.tracee().poke(call.arguments[0], names) ? 0 : -EFAULT);
}

Outcome on_sysinfo(Thread& thread, const Call& call) {
  const std::uint64_t memory = thread.process().host->description().memory;
  struct sysinfo info {};
  info.uptime = timespec_of(reading_of(thread, CLOCK_BOOTTIME).value()).tv_sec;
  info.totalram = memory;
  info.freeram = memory / 2;
  info.mem_unit = 1;
  info.procs = 1;
  return Outcome::answered(thread.tracee().poke(call.arguments[0], info) ? 0 : -EFAULT);
}

Outcome on_getcpu(Thread& thread, const Call& call) {
  constexpr unsigned kNode = 0;
  const unsigned processor = thread.supervisor().kernel().affinities.place_of(thread);
  for (const auto& [place, value] :
       {std::pair(call.arguments[0], processor), std::pair(call.arguments[1], kNode)}) {
    if (place != 0 && !thread.tracee().poke(place, value)) return Outcome::answered(-EFAULT);
  }
  return Outcome::answered(0);
}

Outcome on_membarrier(Thread& thread, const Call& /*call*/) {
  constexpr long kOldCommands = (1 << 9) - 1;
  const auto commands = thread.finish_call();
  if (!commands) return Outcome::over();
  if (*commands > 0) thread.tracee().set_result(*commands & kOldCommands);
  return Outcome::made();
}

Outcome on_statfs(Thread& thread, const Call& call) {
  constexpr std::uint64_t kBytes = 64ull << 30;
  constexpr std::uint64_t kFiles = 1ull << 22;
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  auto system = thread.tracee().peek<struct statfs>(call.arguments[1]);
  if (*result != 0 || !system) return Outcome::made();
  // The host's own directories are as large on each machine (sim/tracee/own_directories.h). The
  // root directory of a container is on an overlay or in memory, too, but has another size.
  constexpr std::uint64_t kOwnBytes = 1ull << 30;
  const bool own = (system->f_type == TMPFS_MAGIC || system->f_type == OVERLAYFS_SUPER_MAGIC) &&
                   system->f_blocks * static_cast<std::uint64_t>(system->f_bsize) == kOwnBytes;
  if (!own && system->f_blocks != 0 && system->f_bsize > 0) {
    system->f_blocks = kBytes / static_cast<std::uint64_t>(system->f_bsize);
    system->f_bfree = system->f_blocks / 2;
    system->f_bavail = system->f_bfree;
  }
  if (!own && system->f_files != 0) {
    system->f_files = kFiles;
    system->f_ffree = kFiles / 2;
  }
  system->f_fsid = {};
  (void)thread.tracee().poke(call.arguments[1], *system);
  return Outcome::made();
}

Outcome on_readlink(Thread& thread, const Call& call) {
  constexpr long kNumberedMax = 64;
  const auto length = thread.finish_call();
  if (!length) return Outcome::over();
  if (*length <= 0 || *length > kNumberedMax) return Outcome::made();
  const unsigned buffer = call.number == SYS_readlink ? 1 : 2;
  std::string target(static_cast<std::size_t>(*length), '\0');
  if (!thread.tracee().read(call.arguments[buffer], std::as_writable_bytes(std::span(target))))
    return Outcome::made();
  auto shown = told_link(target, thread.supervisor().kernel().numbers);
  if (!shown || shown->size() > call.arguments[buffer + 1]) return Outcome::made();
  const auto size = static_cast<long>(shown->size());
  // Nothing of what the kernel has written remains.
  shown->resize(std::max(shown->size(), target.size()));
  if (!thread.tracee().write(call.arguments[buffer], std::as_bytes(std::span(*shown))))
    return Outcome::made();
  thread.tracee().set_result(size);
  return Outcome::made();
}

Outcome on_wait4(Thread& thread, const Call& call) {
  const bool no_waiting = (call.arguments[2] & WNOHANG) != 0;
  const auto asked = static_cast<pid_t>(call.arguments[0]);
  Children which{.options = static_cast<int>(call.arguments[2])};
  if (asked > 0) which.number = asked;
  if (asked == 0) which.group = ::getpgid(thread.process().pid);
  if (asked < -1) which.group = group_of(thread, -asked);
  return wait_for_child(thread, which, no_waiting, false, call.arguments[3]);
}

Outcome on_waitid(Thread& thread, const Call& call) {
  const bool no_waiting = (call.arguments[3] & WNOHANG) != 0;
  const bool leaves = (call.arguments[3] & WNOWAIT) != 0;
  const auto asked = static_cast<pid_t>(call.arguments[1]);
  Children which{.options = static_cast<int>(call.arguments[3])};
  if (call.arguments[0] == P_PID) which.number = asked;
  if (call.arguments[0] == P_PIDFD) which.number = number_by_descriptor(thread, asked);
  if (call.arguments[0] == P_PGID)
    which.group = asked == 0 ? ::getpgid(thread.process().pid) : group_of(thread, asked);
  return wait_for_child(thread, which, no_waiting, leaves, call.arguments[4]);
}

}  // namespace anyrdma::sim::programs
