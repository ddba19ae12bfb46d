#include "sim/programs/syscalls/handlers.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "sim/host.h"
#include "sim/points/mark_call.h"
#include "sim/programs/kernel/common_memory.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/machine_facts.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/programs/syscalls/system_calls.h"
#include "sim/world.h"
#include "transport/fault/plan/finding_call.h"
#include "transport/fault/plan/question.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::sim::programs {

namespace {

/// Whether the kernel makes the call without a stop, unless facts about the machine are named.
bool passes(const SystemCall& row, const Call& call) {
  const auto rule = std::ranges::find_if(row.arguments, [&call](const tracee::ArgumentRule& each) {
    return tracee::applies(each, call.arguments[each.argument]);
  });
  const tracee::Answer answer = rule == row.arguments.end() ? row.answer : rule->answer;
  return answer.verdict == tracee::Verdict::kPass;
}

}  // namespace

Outcome make_call(Thread& thread, const Call& call) {
  const SystemCall* const known = find_system_call(call.number);
  if (asks_for_fact(call.number)) {
    FactsAsked& facts = thread.supervisor().kernel().facts;
    facts.note_call(program_of(thread.process()), call.number, name_of_call(call.number));
    if (known != nullptr && passes(*known, call)) return Outcome::made();
  }
  if (known != nullptr && known->handler != nullptr) return known->handler(thread, call);
  thread.supervisor().remark(thread.process().name + " makes " + name_of_call(call.number) +
                             ", which anyrdma does not know: it fails with ENOSYS");
  return Outcome::answered(-ENOSYS);
}

bool is_aside(const Call& call) {
  const long number = call.number;
  const SystemCall* const known = asks_for_fact(number) ? find_system_call(number) : nullptr;
  return (known != nullptr && passes(*known, call)) || number == fault::kAskWorld ||
         number == fault::kReportFinding || number == kMarkCall || number == fault::kWatchMemory ||
         changes_memory(number) || makes_code(number) || makes_object(number) ||
         tells_of_machine(number);
}

bool makes_object(long number) {
  return number == SYS_shmget || number == SYS_semget || number == SYS_msgget ||
         number == SYS_mq_open || number == SYS_shmat || number == SYS_shmctl ||
         number == SYS_memfd_create;
}

bool changes_memory(long number) {
  return number == SYS_munmap || number == SYS_brk || number == SYS_mremap ||
         number == SYS_madvise || number == SYS_shmdt;
}

bool tells_of_machine(long number) {
  return number == SYS_pread64 || number == SYS_preadv || number == SYS_readlink ||
         number == SYS_readlinkat || number == SYS_statfs || number == SYS_fstatfs ||
         number == SYS_stat || number == SYS_lstat || number == SYS_fstat ||
         number == SYS_newfstatat || number == SYS_statx || number == SYS_mincore ||
         number == SYS_getdents || number == SYS_getdents64 || number == SYS_getpriority ||
         number == SYS_setpriority || number == SYS_sched_getattr || number == SYS_sched_setattr ||
         number == SYS_getrlimit || number == SYS_setrlimit || number == SYS_prlimit64 ||
         number == SYS_semctl || number == SYS_msgctl;
}

bool makes_code(long number) {
  return number == SYS_mmap || number == SYS_mprotect || number == SYS_pkey_mprotect ||
         number == SYS_execve || number == SYS_execveat;
}

// --- the kernel's -------------------------------------------------------------------------------

Outcome on_futex(Thread& thread, const Call& call) {
  return thread.supervisor().kernel().futexes.call(thread, call);
}

Outcome on_futex_waitv(Thread& thread, const Call& call) {
  return thread.supervisor().kernel().futexes.wait_for_any(thread, call);
}

Outcome on_exit(Thread& thread, const Call& /*call*/) {
  thread.set_ends_alone();
  return Outcome::made();
}

/// After a signal that does not end the wait the kernel would continue it in real time.
Outcome on_restart(Thread& /*thread*/, const Call& /*call*/) {
  return Outcome::answered(-EINTR);
}

/// What it changes would be there in the next run, if that had the same namespaces.
Outcome on_mount(Thread& thread, const Call& /*call*/) {
  thread.supervisor().spoil_realms();
  return Outcome::made();
}

/// It would be there in the next run, and so would the number that it takes.
Outcome on_new_object(Thread& thread, const Call& /*call*/) {
  thread.supervisor().note_objects(*thread.process().host);
  return Outcome::made();
}

// --- those of anyrdma's libraries ---------------------------------------------------------------

Outcome on_poll_in_vain(Thread& thread, const Call& /*call*/) {
  // Who has polled for so long next to others waits for what only an event can change.
  constexpr Duration kSpinningMax = std::chrono::hours(1);
  if (others_may_write(thread) && thread.spun_for() < kSpinningMax) {
    thread.spin(Thread::kOfPolls);
  } else {
    thread.yield();
  }
  return thread.is_over() ? Outcome::over() : Outcome::answered(0);
}

/// A lock or a verbs call. Others have gone on before it is made, if that was wanted.
Outcome on_point(Thread& thread, const Call& /*call*/) {
  return Outcome::answered(
      thread.supervisor().world().scheduler().chooses() ? 0 : transport::realtime::kNoPoints);
}

/// Where it reads its clocks from now on.
Outcome on_clock_page(Thread& thread, const Call& call) {
  auto& clock = thread.process().clock;
  clock = SharedClock::map(thread.borrow(static_cast<int>(call.arguments[0])));
  return Outcome::answered(clock == nullptr ? -EINVAL : 0);
}

/// Where it leaves entries from now on.
Outcome on_shared_entries(Thread& thread, const Call& call) {
  auto& entries = thread.process().entries;
  entries = SharedEntries::map(thread.borrow(static_cast<int>(call.arguments[0])));
  return Outcome::answered(entries == nullptr ? -EINVAL : 0);
}

/// What it has left there was taken when it stopped.
Outcome on_take_entries(Thread& thread, const Call& /*call*/) {
  return Outcome::answered(thread.process().entries == nullptr ? -EINVAL : 0);
}

/// Of the fault plan, or what the checkers want to hear.
Outcome on_question(Thread& thread, const Call& call) {
  const std::uint64_t address = call.arguments[0];
  auto question = thread.tracee().peek<fault::Question>(address);
  if (!question || call.arguments[1] != sizeof *question) return Outcome::answered(-EFAULT);
  const Duration delay =
      thread.process().host->processes().advise(thread.process().full_name, *question);
  if (delay > Duration::zero() && !thread.spend(delay)) return Outcome::over();
  return Outcome::answered(thread.tracee().poke(address, *question) ? 0 : -EFAULT);
}

/// What its device is to do to memory.
Outcome on_memory(Thread& thread, const Call& call) {
  constexpr std::uint64_t kChoicesMax = 1 << 16;
  const std::uint64_t count = call.arguments[0];
  if (count < 2 || count > kChoicesMax) return Outcome::answered(-EINVAL);
  const auto choice =
      thread.supervisor().world().memory().choose(static_cast<std::uint32_t>(count));
  return Outcome::answered(static_cast<long>(choice));
}

}  // namespace anyrdma::sim::programs
