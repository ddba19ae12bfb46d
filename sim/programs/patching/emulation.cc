// Instructions whose results differ from run to run, at which a thread has stopped: the supervisor
// carries them out.
#include <cpuid.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "sim/instructions/instruction.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

using Register = unsigned long long user_regs_struct::*;
/// By the numbers that instructions have for them.
constexpr std::array<Register, 16> kByNumber{
    &user_regs_struct::rax, &user_regs_struct::rcx, &user_regs_struct::rdx, &user_regs_struct::rbx,
    &user_regs_struct::rsp, &user_regs_struct::rbp, &user_regs_struct::rsi, &user_regs_struct::rdi,
    &user_regs_struct::r8,  &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
    &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14, &user_regs_struct::r15};

}  // namespace

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
  switch (site->kind) {
    case instructions::Site::Kind::kTimeStamp:
      read_time_stamp(*registers, site->length);
      break;
    case instructions::Site::Kind::kChance:
      draw(*registers, *site);
      break;
    case instructions::Site::Kind::kProcessor:
      tell_processor(*registers, *site);
      break;
    case instructions::Site::Kind::kIdentity:
      tell_identity(*registers, *site);
      break;
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
  constexpr unsigned long long kCarry = 1;
  constexpr unsigned long long kOfResults = 0x8d5;
  if (!spend(sandbox_.options().call_cost)) return;
  unsigned long long& filled = registers.*kByNumber[site.target.number];
  const std::uint64_t chance = sandbox_.random().next();
  switch (site.target.bytes) {
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

/// As getcpu(2) does: all threads are on the host's first processor.
void Thread::tell_processor(user_regs_struct registers, const instructions::Site& site) {
  registers.*kByNumber[site.target.number] = 0;
  registers.rip += site.length;
  tracee_.set_registers(registers);
}

/// As the machine's processors say, except which one of them it is. Source: Intel 64 Software
/// Developer's Manual, volume 2, CPUID; AMD64 Architecture Programmer's Manual, volume 3, appendix
/// E.
void Thread::tell_identity(user_regs_struct registers, const instructions::Site& site) {
  constexpr unsigned kFeatures = 1;
  constexpr unsigned kTopology = 0xb;
  constexpr unsigned kNewTopology = 0x1f;
  constexpr unsigned kUnitsOfAmd = 0x8000'001e;
  const auto leaf = static_cast<unsigned>(registers.rax);
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  __cpuid_count(leaf, static_cast<unsigned>(registers.rcx), a, b, c, d);
  if (leaf == kFeatures) b &= 0x00ff'ffff;
  if (leaf == kTopology || leaf == kNewTopology) d = 0;
  if (leaf == kUnitsOfAmd) {
    a = 0;
    b &= ~0xffu;
    c &= ~0xffu;
  }
  registers.rax = a;
  registers.rbx = b;
  registers.rcx = c;
  registers.rdx = d;
  registers.rip += site.length;
  tracee_.set_registers(registers);
}

}  // namespace anyrdma::sim::programs
