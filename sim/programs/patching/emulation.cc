#include "sim/programs/patching/emulation.h"

#include <cpuid.h>

#include <array>
#include <cstdint>

#include "sim/instructions/instruction.h"

namespace anyrdma::sim::programs {

using instructions::Site;

namespace {

using Register = unsigned long long user_regs_struct::*;
/// By the numbers that instructions have for them.
constexpr std::array<Register, 16> kByNumber{
    &user_regs_struct::rax, &user_regs_struct::rcx, &user_regs_struct::rdx, &user_regs_struct::rbx,
    &user_regs_struct::rsp, &user_regs_struct::rbp, &user_regs_struct::rsi, &user_regs_struct::rdi,
    &user_regs_struct::r8,  &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
    &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14, &user_regs_struct::r15};

}  // namespace

std::optional<Site> time_stamp_at(const tracee::Tracee& thread, std::uint64_t address) {
  const auto site = [](std::uint8_t length) {
    Site found{};
    found.kind = Site::Kind::kTimeStamp;
    found.length = length;
    return found;
  };
  const auto rdtsc = thread.peek<std::array<std::uint8_t, 2>>(address);
  if (rdtsc && instructions::reads_time_stamp(*rdtsc)) return site(2);
  const auto rdtscp = thread.peek<std::array<std::uint8_t, 3>>(address);
  if (rdtscp && instructions::reads_time_stamp(*rdtscp)) return site(3);
  return std::nullopt;
}

void read_time_stamp(user_regs_struct& registers, const Site& site, verbs::Duration up) {
  constexpr unsigned kLengthOfRdtscp = 3;
  const auto count = static_cast<std::uint64_t>(up.count()) + 1'000'000'000'000;
  registers.rax = count & 0xffff'ffff;
  registers.rdx = count >> 32;
  if (site.length == kLengthOfRdtscp) registers.rcx = 0;
  registers.rip += site.length;
}

/// The processor always has some chance left: it says so in the carry flag, and clears those that
/// tell of results.
void draw(user_regs_struct& registers, const Site& site, std::uint64_t chance) {
  constexpr unsigned long long kCarry = 1;
  constexpr unsigned long long kOfResults = 0x8d5;
  unsigned long long& filled = registers.*kByNumber[site.target.number];
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
}

void tell_processor(user_regs_struct& registers, const Site& site) {
  registers.*kByNumber[site.target.number] = 0;
  registers.rip += site.length;
}

void tell_identity(user_regs_struct& registers, const Site& site) {
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
}

}  // namespace anyrdma::sim::programs
