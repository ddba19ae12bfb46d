#include "sim/programs/supervisor/blocked_call.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <string>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

/// With what an interrupted call leaves the kernel. Programs see none of them but EINTR.
constexpr std::array<long, 5> kInterrupted{-EINTR, -512, -513, -514, -516};

constexpr std::array<long, 3> kGivesPartBack{SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg};

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

std::optional<Call> blocked_call_of(const user_regs_struct& registers) {
  const auto number = static_cast<long>(registers.orig_rax);
  const auto result = static_cast<long>(registers.rax);
  const bool interrupted =
      std::find(kInterrupted.begin(), kInterrupted.end(), result) != kInterrupted.end();
  if (number < 0 || !interrupted) return std::nullopt;
  return Call{
      number,
      {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9}};
}

std::optional<long> call_in_kernel(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/syscall");
  long number = -1;
  if (!(file >> number) || number < 0) return std::nullopt;
  return number;
}

bool may_interrupt_call(pid_t tid) {
  const auto number = call_in_kernel(tid);
  return number &&
         std::find(kGivesPartBack.begin(), kGivesPartBack.end(), *number) == kGivesPartBack.end();
}

Outcome on_kernel_queue(Thread& thread, const Call& call) {
  thread.sandbox().note_deed();
  if (call.number == SYS_mq_timedsend) thread.sandbox().expect_signals();  // mq_notify(3)
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
