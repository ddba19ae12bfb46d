// Instructions whose results differ from run to run, at which a thread has stopped: the supervisor
// carries them out.
#include <array>
#include <csignal>

#include "sim/instructions/instruction.h"
#include "sim/programs/process.h"
#include "sim/programs/sandbox.h"
#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

/// Whether it has stopped at one that is ours to carry out.
bool Thread::emulate(int signal) {
  const auto registers = tracee_.registers();
  if (!registers) return false;
  if (signal == SIGSEGV) {
    const auto length = time_stamp_at(registers->rip);
    if (length) read_time_stamp(*registers, *length);
    return length.has_value();
  }
  const auto site = process_.code ? process_.code->at(registers->rip) : std::nullopt;
  if (!site) return false;
  if (site->random) {
    draw(*registers, *site);
  } else {
    read_time_stamp(*registers, site->length);
  }
  return true;
}

/// The length of the instruction there if it is rdtsc or rdtscp, which are not allowed.
std::optional<unsigned> Thread::time_stamp_at(std::uint64_t address) const {
  const auto rdtsc = tracee_.peek<std::array<std::uint8_t, 2>>(address);
  if (rdtsc && instructions::reads_time_stamp(*rdtsc)) return rdtsc->size();
  const auto rdtscp = tracee_.peek<std::array<std::uint8_t, 3>>(address);
  if (rdtscp && instructions::reads_time_stamp(*rdtscp)) return rdtscp->size();
  return std::nullopt;
}

/// In nanoseconds.
void Thread::read_time_stamp(user_regs_struct registers, unsigned length) {
  constexpr unsigned kLengthOfRdtscp = 3;
  if (!spend(cost_of_look())) return;
  const auto count =
      static_cast<std::uint64_t>(now().time_since_epoch().count()) + 1'000'000'000'000;
  registers.rax = count & 0xffff'ffff;
  registers.rdx = count >> 32;
  if (length == kLengthOfRdtscp) registers.rcx = 0;
  registers.rip += length;
  tracee_.set_registers(registers);
}

/// The processor always has some chance left: it says so in the carry flag, and clears those that
/// tell of results.
void Thread::draw(user_regs_struct registers, const instructions::Site& site) {
  using Register = unsigned long long user_regs_struct::*;
  constexpr std::array<Register, 16> kByNumber{
      &user_regs_struct::rax, &user_regs_struct::rcx, &user_regs_struct::rdx,
      &user_regs_struct::rbx, &user_regs_struct::rsp, &user_regs_struct::rbp,
      &user_regs_struct::rsi, &user_regs_struct::rdi, &user_regs_struct::r8,
      &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
      &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14,
      &user_regs_struct::r15};
  constexpr unsigned long long kCarry = 1;
  constexpr unsigned long long kOfResults = 0x8d5;
  if (!spend(sandbox_.options().call_cost)) return;
  unsigned long long& filled = registers.*kByNumber[site.random->number];
  const std::uint64_t chance = sandbox_.random().next();
  switch (site.random->bytes) {
    case 2:
      filled = (filled & ~0xffffull) | (chance & 0xffff);
      break;
    case 4:
      filled = chance & 0xffff'ffff;
      break;
    default:
      filled = chance;
  }
  registers.eflags = (registers.eflags & ~kOfResults) | kCarry;
  registers.rip += site.length;
  tracee_.set_registers(registers);
}

}  // namespace anyrdma::sim::programs
