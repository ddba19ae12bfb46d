#include "sim/programs/patching/emulation.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <bit>
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

/// The registers in which CPUID answers.
struct Identity {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
};

unsigned with_bits(unsigned value, unsigned first, unsigned count, unsigned bits) {
  const unsigned mask = ((1u << count) - 1) << first;
  return (value & ~mask) | ((bits << first) & mask);
}

/// The levels of a topology: threads of a core, then cores of the package, then none.
void tell_level(Identity& identity, unsigned subleaf, unsigned processors) {
  constexpr unsigned kThreads = 1;
  constexpr unsigned kCores = 2;
  const auto bits = static_cast<unsigned>(std::bit_width(processors - 1));
  identity = {.c = subleaf};
  if (subleaf == 0) identity = {.b = 1, .c = kThreads << 8};
  if (subleaf == 1) identity = {.a = bits, .b = processors, .c = kCores << 8 | subleaf};
}

/// The last leaf from 0 or from 0x8000'0000 on. An int in clang's header.
unsigned last_leaf(unsigned first) {
  return static_cast<unsigned>(__get_cpuid_max(first, nullptr));
}

bool has_levels(unsigned leaf) {
  if (leaf > last_leaf(0)) return false;
  Identity first;
  __cpuid_count(leaf, 0, first.a, first.b, first.c, first.d);
  return first.b != 0;
}

/// The fields with the number of processors, and those that tell which one answers.
void tell_topology(Identity& identity, unsigned leaf, unsigned subleaf,
                   const Executing& processor) {
  constexpr unsigned kLastLevel = 3;
  const unsigned processors = processor.of_host;
  const auto bits = static_cast<unsigned>(std::bit_width(processors - 1));
  const unsigned others = processors - 1;
  switch (leaf) {
    case 1:
      identity.b = with_bits(identity.b, 16, 8, std::min(processors, 0xffu));
      identity.b = with_bits(identity.b, 24, 8, processor.number);
      identity.d = with_bits(identity.d, 28, 1, processors > 1 ? 1 : 0);
      break;
    case 4:  // a level of Intel's caches, and of AMD's
    case 0x8000'001d: {
      if ((identity.a & 0x1f) == 0) break;
      const bool shared = (identity.a >> 5 & 7) >= kLastLevel;
      identity.a = with_bits(identity.a, 14, 12, shared ? others : 0);
      if (leaf == 4) identity.a = with_bits(identity.a, 26, 6, std::min(others, 0x3fu));
      break;
    }
    case 0xb:
    case 0x1f:
      identity.d = 0;
      if (!has_levels(leaf)) break;
      tell_level(identity, subleaf, processors);
      identity.d = processor.number;
      break;
    case 0x8000'0008:
      if (last_leaf(0x8000'0000) == leaf) break;  // reserved: Intel's last leaf
      identity.c = with_bits(identity.c, 0, 8, std::min(others, 0xffu));
      identity.c = with_bits(identity.c, 12, 4, bits);
      break;
    case 0x8000'001e:
      identity.a = processor.number;
      identity.b = with_bits(identity.b, 0, 16, processor.number & 0xff);  // a core of one thread
      identity.c &= ~0xffu;
      break;
    default:
      break;
  }
}

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

void read_time_stamp(user_regs_struct& registers, const Site& site, verbs::Duration up,
                     const Executing& processor) {
  constexpr unsigned kLengthOfRdtscp = 3;
  const auto count = static_cast<std::uint64_t>(up.count()) + 1'000'000'000'000;
  registers.rax = count & 0xffff'ffff;
  registers.rdx = count >> 32;
  if (site.length == kLengthOfRdtscp) registers.rcx = processor.number;
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

void tell_processor(user_regs_struct& registers, const Site& site, const Executing& processor) {
  registers.*kByNumber[site.target.number] = processor.number;
  registers.rip += site.length;
}

void tell_identity(user_regs_struct& registers, const Site& site, const Executing& processor) {
  const auto leaf = static_cast<unsigned>(registers.rax);
  Identity identity;
  __cpuid_count(leaf, static_cast<unsigned>(registers.rcx), identity.a, identity.b, identity.c,
                identity.d);
  tell_topology(identity, leaf, static_cast<unsigned>(registers.rcx), processor);
  registers.rax = identity.a;
  registers.rbx = identity.b;
  registers.rcx = identity.c;
  registers.rdx = identity.d;
  registers.rip += site.length;
}

}  // namespace anyrdma::sim::programs
