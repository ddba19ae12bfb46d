#include "sim/programs/kernel/limits.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// Of a machine with 8 GiB of memory, about.
constexpr rlim_t kOfMemory = 32768;
/// The kernel's own default, in bytes. launch() has lifted the limit.
constexpr rlim_t kOfQueues = 819200;

bool is_told_limit(std::uint64_t resource) {
  return resource == RLIMIT_NPROC || resource == RLIMIT_SIGPENDING || resource == RLIMIT_MSGQUEUE;
}

/// A limit of processor time would end the program in real time.
bool is_ignored(Thread& thread, std::uint64_t resource, std::uint64_t address) {
  const auto asked = thread.tracee().peek<rlimit>(address);
  if (resource != RLIMIT_CPU || !asked) return false;
  if (asked->rlim_cur != RLIM_INFINITY) thread.supervisor().kernel().timers.remark_on_limit();
  return true;
}

/// The kernel decides. What is within the limits that the program sees is within those of the
/// machine, too, as far as the kernel hears.
std::optional<long> set_limit(Thread& thread, Process& process, int resource,
                              std::uint64_t address) {
  const auto asked = thread.tracee().peek<rlimit>(address);
  rlimit ours{};
  if (!asked ||
      ::prlimit(process.pid, static_cast<__rlimit_resource>(resource), nullptr, &ours) != 0)
    return thread.finish_call();
  const bool within = asked->rlim_cur <= asked->rlim_max &&
                      asked->rlim_max <= shown_limit(process, resource).rlim_max;
  const rlimit possible{std::min(asked->rlim_cur, ours.rlim_max),
                        std::min(asked->rlim_max, ours.rlim_max)};
  const bool changed =
      within && possible.rlim_max != asked->rlim_max && thread.tracee().poke(address, possible);
  const auto result = thread.finish_call();
  if (changed) (void)thread.tracee().poke(address, *asked);
  if (result == 0) process.limits[resource] = *asked;
  return result;
}

}  // namespace

rlimit shown_limit(const Process& process, int resource) {
  const auto found = process.limits.find(resource);
  if (found != process.limits.end()) return found->second;
  const rlim_t limit = resource == RLIMIT_MSGQUEUE ? kOfQueues : kOfMemory;
  return {limit, limit};
}

Outcome on_getrlimit(Thread& thread, const Call& call) {
  if (!is_told_limit(call.arguments[0])) return Outcome::made();
  const rlimit shown = shown_limit(thread.process(), static_cast<int>(call.arguments[0]));
  return Outcome::answered(thread.tracee().poke(call.arguments[1], shown) ? 0 : -EFAULT);
}

Outcome on_setrlimit(Thread& thread, const Call& call) {
  if (is_ignored(thread, call.arguments[0], call.arguments[1])) return Outcome::answered(0);
  if (!is_told_limit(call.arguments[0])) return Outcome::made();
  const auto result =
      set_limit(thread, thread.process(), static_cast<int>(call.arguments[0]), call.arguments[1]);
  return result ? Outcome::made() : Outcome::over();
}

/// The kernel says what the limit was.
Outcome on_prlimit(Thread& thread, const Call& call) {
  const std::uint64_t asked = call.arguments[2];
  if (asked != 0 && is_ignored(thread, call.arguments[1], asked)) {
    thread.tracee().set_argument(2, 0);
    return Outcome::made();
  }
  const auto number = static_cast<pid_t>(call.arguments[0]);
  Process* const process = number == 0 ? &thread.process() : find_process(thread, number);
  if (process == nullptr || !is_told_limit(call.arguments[1])) return Outcome::made();
  const int resource = static_cast<int>(call.arguments[1]);
  const rlimit before = shown_limit(*process, resource);
  const auto result =
      asked == 0 ? thread.finish_call() : set_limit(thread, *process, resource, asked);
  if (!result) return Outcome::over();
  if (*result == 0 && call.arguments[3] != 0) (void)thread.tracee().poke(call.arguments[3], before);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
