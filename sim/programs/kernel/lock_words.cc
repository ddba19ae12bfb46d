#include "sim/programs/kernel/lock_words.h"

#include <linux/futex.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <vector>

#include "sim/host.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

std::uint32_t number_of(const Thread& thread) {
  return static_cast<std::uint32_t>(thread.number());
}

/// Whether the thread that has it by its word is there, in whatever process of the host.
bool is_owned(const Thread& asks, std::uint32_t word) {
  const auto owner = static_cast<pid_t>(word & FUTEX_TID_MASK);
  return std::ranges::any_of(asks.supervisor().processes(), [&](const auto& process) {
    return process->host == asks.process().host && !process->status &&
           find_thread(*process, owner) != nullptr;
  });
}

}  // namespace

bool LockWords::is_waited_for(const WordKey& key) const {
  return std::ranges::any_of(
      waiters_, [&](const Waiter& each) { return each.key == key && each.thread->waits(); });
}

Outcome LockWords::lock(Thread& thread, const Call& call) {
  const std::uint64_t address = call.arguments[0];
  const std::uint64_t operation = Futexes::operation_of(call);
  const auto word = thread.tracee().peek<std::uint32_t>(address);
  const auto key = Futexes::key_of(thread, call);
  if (!word || !key) return Outcome::answered(-EFAULT);
  const std::uint32_t own = number_of(thread);
  if ((*word & FUTEX_TID_MASK) == own) return Outcome::answered(-EDEADLK);
  const bool waited_for = is_waited_for(*key);
  if (!waited_for && (*word & FUTEX_TID_MASK) == 0) {
    const std::uint32_t taken = (*word & FUTEX_OWNER_DIED) | own;
    return Outcome::answered(thread.tracee().poke(address, taken) ? 0 : -EFAULT);
  }
  if (operation == FUTEX_TRYLOCK_PI) return Outcome::answered(-EAGAIN);
  if (!waited_for && !is_owned(thread, *word)) return Outcome::answered(-ESRCH);
  std::optional<Instant> deadline;
  if (call.arguments[3] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[3]);
    if (!limit) return Outcome::answered(-EFAULT);
    const bool date = operation == FUTEX_LOCK_PI || (call.arguments[1] & FUTEX_CLOCK_REALTIME) != 0;
    deadline = instant_of(thread, date ? CLOCK_REALTIME : CLOCK_MONOTONIC, *limit);
  }
  if (!thread.tracee().poke(address, *word | FUTEX_WAITERS)) return Outcome::answered(-EFAULT);
  const auto place =
      waiters_.insert(waiters_.end(), {.key = *key, .address = address, .thread = &thread});
  const Woken woken = thread.wait("a lock", deadline);
  // Whoever gave it the lock has taken it out already.
  if (woken != Woken::kReady) waiters_.erase(place);
  return Futexes::answer_to(woken);
}

Outcome LockWords::unlock(Thread& thread, const Call& call) {
  const auto word = thread.tracee().peek<std::uint32_t>(call.arguments[0]);
  const auto key = Futexes::key_of(thread, call);
  if (!word || !key) return Outcome::answered(-EFAULT);
  if ((*word & FUTEX_TID_MASK) != number_of(thread)) return Outcome::answered(-EPERM);
  if (give_to_next(*key, 0)) return Outcome::answered(0);
  return Outcome::answered(thread.tracee().poke(call.arguments[0], std::uint32_t{0}) ? 0 : -EFAULT);
}

/// False: nobody waits.
bool LockWords::give_to_next(const WordKey& key, std::uint32_t flags) {
  const auto next = std::ranges::find_if(
      waiters_, [&](const Waiter& each) { return each.key == key && each.thread->waits(); });
  if (next == waiters_.end()) return false;
  Thread& heir = *next->thread;
  // Whether anybody else waits it hears when it unlocks.
  (void)heir.tracee().poke(next->address, number_of(heir) | FUTEX_WAITERS | flags);
  waiters_.erase(next);
  heir.wake(Woken::kReady);
  return true;
}

void LockWords::on_thread_gone(const Host& host) {
  std::vector<WordKey> orphans;
  for (const Waiter& each : waiters_) {
    if (each.thread->process().host != &host || !each.thread->waits()) continue;
    const auto word = each.thread->tracee().peek<std::uint32_t>(each.address);
    if (!word || is_owned(*each.thread, *word)) continue;
    if (std::ranges::find(orphans, each.key) == orphans.end()) orphans.push_back(each.key);
  }
  for (const WordKey& key : orphans) (void)give_to_next(key, FUTEX_OWNER_DIED);
}

}  // namespace anyrdma::sim::programs
