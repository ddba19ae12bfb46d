#include "sim/programs/kernel/object_times.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <optional>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

using ObjectKind = ObjectTimes::Kind;
using Times = ObjectTimes::Times;

time_t virtual_date(const Thread& thread) {
  return timespec_of(reading_of(thread, CLOCK_REALTIME).value_or(Duration{})).tv_sec;
}

Times& times_of(Thread& thread, ObjectKind kind, int id) {
  Times& times = thread.supervisor().kernel().object_times.of(*thread.process().host, kind, id);
  if (times.made == 0) times.made = virtual_date(thread);
  return times;
}

/// `value`: the kernel's. Such a use was not noted if `known` is 0.
void show(time_t& value, time_t& known, time_t now) {
  if (value == 0) return;
  if (known == 0) known = now;
  value = known;
}

void show(shmid_ds& state, Times& times, time_t now) {
  show(state.shm_ctime, times.made, now);
  show(state.shm_atime, times.used, now);
  show(state.shm_dtime, times.left, now);
}

void show(msqid_ds& state, Times& times, time_t now) {
  show(state.msg_ctime, times.made, now);
  show(state.msg_stime, times.used, now);
  show(state.msg_rtime, times.left, now);
}

void show(semid_ds& state, Times& times, time_t now) {
  show(state.sem_ctime, times.made, now);
  show(state.sem_otime, times.used, now);
}

/// `State`: what the command writes to `address`.
template <class State>
Outcome control(Thread& thread, const Call& call, ObjectKind kind, std::uint64_t command,
                std::uint64_t address) {
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  if (*result < 0) return Outcome::made();
  const bool by_id = command == IPC_STAT || command == IPC_SET;
  Times& times = times_of(thread, kind,
                          by_id ? static_cast<int>(call.arguments[0]) : static_cast<int>(*result));
  if (command == IPC_SET) {
    times.made = virtual_date(thread);
    return Outcome::made();
  }
  auto state = thread.tracee().peek<State>(address);
  if (!state) return Outcome::made();
  show(*state, times, virtual_date(thread));
  (void)thread.tracee().poke(address, *state);
  return Outcome::made();
}

}  // namespace

void note_use(Thread& thread, const Call& call) {
  ObjectKind kind = ObjectKind::kSemaphores;
  if (call.number == SYS_shmat) kind = ObjectKind::kMemory;
  if (call.number == SYS_msgsnd || call.number == SYS_msgrcv) kind = ObjectKind::kQueue;
  Times& times = times_of(thread, kind, static_cast<int>(call.arguments[0]));
  (call.number == SYS_msgrcv ? times.left : times.used) = virtual_date(thread);
}

Outcome on_shmctl(Thread& thread, const Call& call) {
  if (call.arguments[1] == IPC_RMID)
    return thread.supervisor().kernel().huge_pages.on_shmctl(thread, call);
  return control<shmid_ds>(thread, call, ObjectKind::kMemory, call.arguments[1], call.arguments[2]);
}

Outcome on_msgctl(Thread& thread, const Call& call) {
  return control<msqid_ds>(thread, call, ObjectKind::kQueue, call.arguments[1], call.arguments[2]);
}

Outcome on_semctl(Thread& thread, const Call& call) {
  return control<semid_ds>(thread, call, ObjectKind::kSemaphores, call.arguments[2],
                           call.arguments[3]);
}

}  // namespace anyrdma::sim::programs
