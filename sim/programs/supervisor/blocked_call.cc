#include "sim/programs/supervisor/blocked_call.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>

namespace anyrdma::sim::programs {
namespace {

/// With what an interrupted call leaves the kernel. Programs see none of them but EINTR.
constexpr std::array<long, 5> kInterrupted{-EINTR, -512, -513, -514, -516};

constexpr std::array<long, 3> kGivesPartBack{SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg};

}  // namespace

std::optional<tracee::Call> blocked_call_of(const user_regs_struct& registers) {
  const auto number = static_cast<long>(registers.orig_rax);
  const auto result = static_cast<long>(registers.rax);
  const bool interrupted =
      std::find(kInterrupted.begin(), kInterrupted.end(), result) != kInterrupted.end();
  if (number < 0 || !interrupted) return std::nullopt;
  return tracee::Call{
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

}  // namespace anyrdma::sim::programs
