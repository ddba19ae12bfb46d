#include "sim/programs/kernel/priorities.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/programs/process/repeated_call.h"

namespace anyrdma::sim::programs {
namespace {

constexpr int kHighestNice = -20;
constexpr int kLowestNice = 19;

int nice_within(int value) {
  return std::clamp(value, kHighestNice, kLowestNice);
}

/// The beginning of struct sched_attr, which not all headers have.
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
};

/// Of a policy to which nice values apply.
bool has_nice(const Attributes& attributes) {
  return attributes.policy == SCHED_OTHER || attributes.policy == SCHED_BATCH ||
         attributes.policy == SCHED_IDLE;
}

}  // namespace

int nice_of_command() {
  static const int kOfCommand = ::getpriority(PRIO_PROCESS, 0);
  return kOfCommand;
}

/// The kernel's own call returns 20 less the nice value.
Outcome on_getpriority(Thread& thread, const Call& /*call*/) {
  constexpr int kZero = 20;
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  if (*result < 0) return Outcome::made();
  const int nice = kZero - static_cast<int>(*result);
  thread.tracee().set_result(kZero - nice_within(nice - nice_of_command()));
  return Outcome::made();
}

Outcome on_setpriority(Thread& thread, const Call& call) {
  if (nice_of_command() == 0) return Outcome::made();
  const int asked = nice_within(static_cast<int>(call.arguments[2]));
  Call with_ours = call;
  with_ours.arguments[2] =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(nice_within(asked + nice_of_command())));
  set_arguments(thread, with_ours);
  const auto result = thread.finish_call();
  return result ? returned(thread, call, *result) : Outcome::over();
}

Outcome on_sched_getattr(Thread& thread, const Call& call) {
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  auto attributes =
      *result == 0 ? thread.tracee().peek<Attributes>(call.arguments[1]) : std::nullopt;
  if (!attributes || !has_nice(*attributes)) return Outcome::made();
  attributes->nice = nice_within(attributes->nice - nice_of_command());
  attributes->runtime = 0;
  (void)thread.tracee().poke(call.arguments[1], *attributes);
  return Outcome::made();
}

Outcome on_sched_setattr(Thread& thread, const Call& call) {
  const auto asked = thread.tracee().peek<Attributes>(call.arguments[1]);
  if (nice_of_command() == 0 || !asked || !has_nice(*asked)) return Outcome::made();
  const std::uint64_t at = call.arguments[1] + offsetof(Attributes, nice);
  const int nice = nice_within(nice_within(asked->nice) + nice_of_command());
  if (!thread.tracee().poke(at, std::int32_t{nice})) return Outcome::made();
  const auto result = thread.finish_call();
  (void)thread.tracee().poke(at, asked->nice);
  return result ? Outcome::made() : Outcome::over();
}

}  // namespace anyrdma::sim::programs
