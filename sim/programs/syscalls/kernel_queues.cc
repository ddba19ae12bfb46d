#include "sim/programs/syscalls/kernel_queues.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/object_times.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// The timeout of a call: in which argument, and what the call returns when it has passed.
struct Timeout {
  long number;
  unsigned argument;
  bool absolute;  ///< of CLOCK_REALTIME
  int error;
};
constexpr std::array<Timeout, 3> kTimeouts{{{SYS_semtimedop, 3, false, EAGAIN},
                                            {SYS_mq_timedsend, 4, true, ETIMEDOUT},
                                            {SYS_mq_timedreceive, 4, true, ETIMEDOUT}}};

bool is_valid(const timespec& time) {
  constexpr long kSecond = 1'000'000'000;
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < kSecond;
}

}  // namespace

Outcome on_kernel_queue(Thread& thread, const Call& call) {
  thread.supervisor().note_deed();
  if (call.number != SYS_mq_timedsend && call.number != SYS_mq_timedreceive) note_use(thread, call);
  if (call.number == SYS_mq_timedsend) thread.supervisor().expect_signals();  // mq_notify(3)
  const auto* const timeout =
      std::find_if(kTimeouts.begin(), kTimeouts.end(),
                   [&](const Timeout& each) { return each.number == call.number; });
  if (timeout == kTimeouts.end() || call.arguments[timeout->argument] == 0) return Outcome::made();
  const auto time = thread.tracee().peek<timespec>(call.arguments[timeout->argument]);
  if (!time || !is_valid(*time)) return Outcome::made();  // the kernel says what is wrong with it
  const Instant deadline = timeout->absolute ? instant_of(thread, CLOCK_REALTIME, *time)
                                             : thread.now() + duration_of(*time);
  thread.limit_call(deadline, timeout->error);
  thread.tracee().set_argument(timeout->argument, 0);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
