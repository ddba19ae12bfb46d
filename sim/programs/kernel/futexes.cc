#include "sim/programs/kernel/futexes.h"

#include <linux/futex.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint32_t kAllBits = FUTEX_BITSET_MATCH_ANY;

bool is_private(const Call& call) {
  return (call.arguments[1] & std::uint64_t{FUTEX_PRIVATE_FLAG}) != 0;
}

/// What FUTEX_WAKE_OP does to the second word.
std::uint32_t changed(std::uint32_t old, std::uint32_t encoded) {
  const std::uint32_t operation = (encoded >> 28) & 7;
  std::uint32_t operand = (encoded >> 12) & 0xfff;
  if ((encoded >> 28 & FUTEX_OP_OPARG_SHIFT) != 0) operand = 1u << (operand & 31);
  switch (operation) {
    case FUTEX_OP_SET:
      return operand;
    case FUTEX_OP_ADD:
      return old + operand;
    case FUTEX_OP_OR:
      return old | operand;
    case FUTEX_OP_ANDN:
      return old & ~operand;
    default:
      return old ^ operand;
  }
}

bool compares(std::uint32_t old, std::uint32_t encoded) {
  const std::uint32_t operand = encoded & 0xfff;
  const auto left = static_cast<std::int32_t>(old);
  const auto right = static_cast<std::int32_t>(operand);
  switch ((encoded >> 24) & 0xf) {
    case FUTEX_OP_CMP_EQ:
      return left == right;
    case FUTEX_OP_CMP_NE:
      return left != right;
    case FUTEX_OP_CMP_LT:
      return left < right;
    case FUTEX_OP_CMP_LE:
      return left <= right;
    case FUTEX_OP_CMP_GT:
      return left > right;
    default:
      return left >= right;
  }
}

std::optional<WordKey> key_at(Thread& thread, std::uint64_t address, bool is_private) {
  const WordKey own{.process = static_cast<std::uint64_t>(thread.process().pid), .offset = address};
  if (is_private) return own;
  std::ifstream maps("/proc/" + std::to_string(thread.tracee().tid()) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    unsigned major = 0;
    unsigned minor = 0;
    char rights[5]{};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &begin,
                    &end, rights, &offset, &major, &minor, &inode) != 7)
      continue;
    if (address < begin || address >= end) continue;
    if (rights[3] != 's') return own;
    return WordKey{.process = 0,
                   .device = makedev(major, minor),
                   .inode = inode,
                   .offset = offset + (address - begin)};
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t Futexes::operation_of(const Call& call) {
  return call.arguments[1] & static_cast<std::uint32_t>(FUTEX_CMD_MASK);
}

std::optional<WordKey> Futexes::key_of(Thread& thread, const Call& call) {
  return key_at(thread, call.arguments[0], is_private(call));
}

Outcome Futexes::answer_to(Woken woken) {
  switch (woken) {
    case Woken::kReady:
      return Outcome::answered(0);
    case Woken::kTimeout:
      return Outcome::answered(-ETIMEDOUT);
    case Woken::kSignal:
      return Outcome::made();
    case Woken::kOver:
      break;
  }
  return Outcome::over();
}

Outcome Futexes::call(Thread& thread, const Call& call) {
  const std::uint64_t operation = operation_of(call);
  switch (operation) {
    case FUTEX_WAIT:
      return wait(thread, call, kAllBits);
    case FUTEX_WAIT_BITSET:
      return wait(thread, call, static_cast<std::uint32_t>(call.arguments[5]));
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      const auto key = key_of(thread, call);
      if (!key) return Outcome::answered(-EFAULT);
      const bool some = operation == FUTEX_WAKE_BITSET;
      const std::uint32_t bits = some ? static_cast<std::uint32_t>(call.arguments[5]) : kAllBits;
      return Outcome::answered(wake(*key, call.arguments[2], bits));
    }
    case FUTEX_REQUEUE:
      return requeue(thread, call, false);
    case FUTEX_CMP_REQUEUE:
      return requeue(thread, call, true);
    case FUTEX_WAKE_OP:
      return wake_and_change(thread, call);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_TRYLOCK_PI:
      return thread.supervisor().kernel().lock_words.lock(thread, call);
    case FUTEX_UNLOCK_PI:
      return thread.supervisor().kernel().lock_words.unlock(thread, call);
    default:
      thread.supervisor().remark("futex operation " + std::to_string(operation) +
                                 " is not supported: it fails with ENOSYS");
      return Outcome::answered(-ENOSYS);
  }
}

Outcome Futexes::wait(Thread& thread, const Call& call, std::uint32_t bits) {
  const std::uint64_t address = call.arguments[0];
  const auto expected = static_cast<std::uint32_t>(call.arguments[2]);
  const auto now = thread.tracee().peek<std::uint32_t>(address);
  if (!now) return Outcome::answered(-EFAULT);
  if (*now != expected) return Outcome::answered(-EAGAIN);
  std::optional<Instant> deadline;
  if (call.arguments[3] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[3]);
    if (!limit) return Outcome::answered(-EFAULT);
    const bool absolute = operation_of(call) == FUTEX_WAIT_BITSET;
    const bool date = (call.arguments[1] & FUTEX_CLOCK_REALTIME) != 0;
    deadline = absolute ? instant_of(thread, date ? CLOCK_REALTIME : CLOCK_MONOTONIC, *limit)
                        : thread.now() + duration_of(*limit);
  }
  const auto key = key_of(thread, call);
  if (!key) return Outcome::answered(-EFAULT);
  const auto place = waiters_.insert(
      waiters_.end(),
      {.key = *key, .address = address, .expected = expected, .bits = bits, .thread = &thread});
  const Woken woken = thread.wait("a futex", deadline);
  // Whoever woke it has taken it out already.
  if (woken != Woken::kReady) waiters_.erase(place);
  return answer_to(woken);
}

Outcome Futexes::wait_for_any(Thread& thread, const Call& call) {
  const std::uint64_t count = call.arguments[1];
  const bool is_valid = call.arguments[0] != 0 && count != 0 && count <= FUTEX_WAITV_MAX;
  if (!is_valid || static_cast<std::uint32_t>(call.arguments[2]) != 0)
    return Outcome::answered(-EINVAL);
  std::optional<Instant> deadline;
  if (call.arguments[3] != 0) {
    const auto clock = static_cast<clockid_t>(call.arguments[4]);
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) return Outcome::answered(-EINVAL);
    const auto limit = thread.tracee().peek<timespec>(call.arguments[3]);
    if (!limit) return Outcome::answered(-EFAULT);
    constexpr long kNanoseconds = 1'000'000'000;
    if (limit->tv_sec < 0 || limit->tv_nsec < 0 || limit->tv_nsec >= kNanoseconds)
      return Outcome::answered(-EINVAL);
    deadline = instant_of(thread, clock, *limit);
  }
  std::vector<futex_waitv> words(count);
  if (!thread.tracee().read(call.arguments[0], std::as_writable_bytes(std::span(words))))
    return Outcome::answered(-EFAULT);
  std::list<Waiter> waiters;
  for (const futex_waitv& word : words) {
    const bool is_private = (word.flags & FUTEX_PRIVATE_FLAG) != 0;
    const bool is_word = (word.flags & ~std::uint32_t{FUTEX_PRIVATE_FLAG}) == FUTEX_32;
    if (!is_word || word.__reserved != 0 || word.val >> 32 != 0 || word.uaddr % 4 != 0)
      return Outcome::answered(-EINVAL);
    const auto key = key_at(thread, word.uaddr, is_private);
    if (!key) return Outcome::answered(-EFAULT);
    waiters.push_back({.key = *key,
                       .address = word.uaddr,
                       .expected = static_cast<std::uint32_t>(word.val),
                       .bits = kAllBits,
                       .thread = &thread,
                       .number = waiters.size()});
  }
  for (const Waiter& each : waiters) {
    const auto now = thread.tracee().peek<std::uint32_t>(each.address);
    if (!now) return Outcome::answered(-EFAULT);
    if (*now != each.expected) return Outcome::answered(-EAGAIN);
  }
  waiters_.splice(waiters_.end(), waiters);
  const Woken woken = thread.wait("a futex", deadline);
  // The one that has been woken is not there any more.
  std::vector<bool> is_left(count);
  std::erase_if(waiters_, [&](const Waiter& each) {
    if (each.thread != &thread) return false;
    is_left[each.number] = true;
    return true;
  });
  if (woken != Woken::kReady) return answer_to(woken);
  const auto found = std::ranges::find(is_left, false);
  return Outcome::answered(found - is_left.begin());
}

long Futexes::wake(const WordKey& key, std::uint64_t count, std::uint32_t bits) {
  std::uint64_t woken = 0;
  for (auto each = waiters_.begin(); each != waiters_.end() && woken < count;) {
    const auto next = std::next(each);
    if (each->key == key && (each->bits & bits) != 0 && each->thread->waits()) {
      Thread& thread = *each->thread;
      waiters_.erase(each);
      thread.wake(Woken::kReady);
      ++woken;
    }
    each = next;
  }
  return static_cast<long>(woken);
}

Outcome Futexes::requeue(Thread& thread, const Call& call, bool compare) {
  const auto from = key_of(thread, call);
  const auto to = key_at(thread, call.arguments[4], is_private(call));
  if (!from || !to) return Outcome::answered(-EFAULT);
  if (compare) {
    const auto now = thread.tracee().peek<std::uint32_t>(call.arguments[0]);
    if (!now) return Outcome::answered(-EFAULT);
    if (*now != static_cast<std::uint32_t>(call.arguments[5])) return Outcome::answered(-EAGAIN);
  }
  long moved = wake(*from, call.arguments[2], kAllBits);
  std::uint64_t room = call.arguments[3];
  for (Waiter& waiter : waiters_) {
    if (room == 0) break;
    if (waiter.key != *from) continue;
    waiter.key = *to;
    --room;
    ++moved;
  }
  return Outcome::answered(moved);
}

Outcome Futexes::wake_and_change(Thread& thread, const Call& call) {
  const auto first = key_of(thread, call);
  const auto second = key_at(thread, call.arguments[4], is_private(call));
  const auto old = thread.tracee().peek<std::uint32_t>(call.arguments[4]);
  const auto encoded = static_cast<std::uint32_t>(call.arguments[5]);
  if (!first || !second || !old || !thread.tracee().poke(call.arguments[4], changed(*old, encoded)))
    return Outcome::answered(-EFAULT);
  long woken = wake(*first, call.arguments[2], kAllBits);
  if (compares(*old, encoded)) woken += wake(*second, call.arguments[3], kAllBits);
  return Outcome::answered(woken);
}

void Futexes::on_thread_gone(const Process& process) {
  for (auto each = waiters_.begin(); each != waiters_.end();) {
    const auto next = std::next(each);
    Thread& thread = *each->thread;
    if (thread.process().host == process.host && thread.waits()) {
      const auto now = thread.tracee().peek<std::uint32_t>(each->address);
      const bool own = &thread.process() == &process;
      if (now && *now != each->expected && (own || (*now & FUTEX_OWNER_DIED) != 0)) {
        waiters_.erase(each);
        thread.wake(Woken::kReady);
      }
    }
    each = next;
  }
}

}  // namespace anyrdma::sim::programs
