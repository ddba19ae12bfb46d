// What the filter says of each system call, as the kernel would read it.
#include "sim/tracee/filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace anyrdma::sim::tracee {
namespace {

constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kNoHugePages = SECCOMP_RET_ERRNO | ENOMEM;

/// The verdict on a call. Knows the instructions that filter_of uses; 0xffffffff: it went astray.
std::uint32_t verdict(const std::vector<sock_filter>& filter, const seccomp_data& call) {
  constexpr std::uint32_t kAstray = 0xffff'ffff;
  std::uint32_t loaded = 0;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& step = filter[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k + sizeof loaded > sizeof call) return kAstray;
        std::memcpy(&loaded, reinterpret_cast<const std::byte*>(&call) + step.k, sizeof loaded);
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += loaded == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += loaded >= step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (loaded & step.k) != 0 ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        return kAstray;
    }
  }
  return kAstray;
}

seccomp_data call_of(long number) {
  return {.nr = static_cast<int>(number),
          .arch = AUDIT_ARCH_X86_64,
          .instruction_pointer = 0,
          .args = {}};
}

constexpr Answer kPass{Verdict::kPass};
constexpr Answer kNoMemory{Verdict::kRefuse, ENOMEM};

seccomp_data call_of(long number, unsigned argument, std::uint64_t value) {
  seccomp_data call = call_of(number);
  call.args[argument] = value;
  return call;
}

TEST(FilterOfCalls, EachRuleDecidesItsCallAndAllOthersStop) {
  static constexpr std::array<CallRule, 3> kRules{
      {{SYS_mmap, kPass}, {SYS_getpid, kPass}, {SYS_ptrace, {Verdict::kRefuse, ENOSYS}}}};
  const auto filter = filter_of(kRules);
  EXPECT_EQ(verdict(filter, call_of(SYS_mmap)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(SYS_getpid)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(SYS_ptrace)), kNoSuchCall);
  for (const int number : {SYS_read, SYS_mmap - 1, SYS_mmap + 1, SYS_ptrace + 1, 999, 1'000'000})
    EXPECT_EQ(verdict(filter, call_of(number)), SECCOMP_RET_TRACE) << number;
}

TEST(FilterOfCalls, AnArgumentDecidesByItsValueItsBitsOrItsUpperHalf) {
  using enum ArgumentRule::Test;
  static constexpr std::array<ArgumentRule, 2> kOfValue{{{1, kIs, 7, {}}, {1, kIs, 9, {}}}};
  static constexpr std::array<ArgumentRule, 1> kOfBits{{{5, kHasAny, 0x30, kNoMemory}}};
  static constexpr std::array<ArgumentRule, 1> kOfHalf{{{3, kUpperHalfIs, 0x1234, kPass}}};
  static constexpr std::array<CallRule, 3> kRules{
      {{5, kPass, kOfValue}, {6, kPass, kOfBits}, {7, {}, kOfHalf}}};
  const auto filter = filter_of(kRules);
  EXPECT_EQ(verdict(filter, call_of(5, 1, 7)), SECCOMP_RET_TRACE);
  EXPECT_EQ(verdict(filter, call_of(5, 1, 0x1'0000'0009)), SECCOMP_RET_TRACE) << "lower half";
  EXPECT_EQ(verdict(filter, call_of(5, 1, 8)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(5, 2, 7)), SECCOMP_RET_ALLOW) << "another argument";
  EXPECT_EQ(verdict(filter, call_of(6, 5, 0x20)), kNoHugePages);
  EXPECT_EQ(verdict(filter, call_of(6, 5, 0x4f)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(7, 3, 0x1234'0000'4040)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(7, 3, 0x1234)), SECCOMP_RET_TRACE);
  EXPECT_EQ(verdict(filter, call_of(7, 3, ~std::uint64_t{0})), SECCOMP_RET_TRACE);
}

TEST(FilterOfCalls, TheFirstRuleOfAnArgumentDecides) {
  using enum ArgumentRule::Test;
  static constexpr std::array<ArgumentRule, 2> kBoth{
      {{3, kHasAny, 1, kNoMemory}, {2, kHasAny, 4, {}}}};
  static constexpr std::array<CallRule, 1> kRules{{{SYS_mmap, kPass, kBoth}}};
  seccomp_data call = call_of(SYS_mmap, 3, 1);
  call.args[2] = 4;
  EXPECT_EQ(verdict(filter_of(kRules), call), kNoHugePages);
}

// The kernel finds out so which calls it can make without executing the filter.
TEST(FilterOfCalls, ACallThatAlwaysPassesDoesSoBeforeAnyArgumentIsRead) {
  using enum ArgumentRule::Test;
  static constexpr std::array<ArgumentRule, 1> kOfValue{{{1, kIs, 7, {}}}};
  static constexpr std::array<CallRule, 4> kRules{
      {{3, kPass, kOfValue}, {4, kPass}, {5, kPass, kOfValue}, {6, kPass}}};
  auto filter = filter_of(kRules);
  for (sock_filter& step : filter) {
    const bool of_argument =
        step.code == (BPF_LD | BPF_W | BPF_ABS) && step.k >= offsetof(seccomp_data, args);
    if (of_argument) step = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  EXPECT_EQ(verdict(filter, call_of(4)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(6)), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(filter, call_of(5)), SECCOMP_RET_KILL_PROCESS) << "the test would notice";
}

TEST(FilterOfCalls, OtherArchitecturesHaveNoCalls) {
  static constexpr std::array<CallRule, 1> kRules{{{SYS_getpid, kPass}}};
  const auto filter = filter_of(kRules);
  seccomp_data old = call_of(SYS_getpid);
  old.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(verdict(filter, old), kNoSuchCall);
  EXPECT_EQ(verdict(filter, call_of(SYS_getpid | 0x4000'0000)), kNoSuchCall) << "x32";
}

TEST(FilterOfCalls, WithoutRulesAllStops) {
  EXPECT_EQ(verdict(filter_of({}), call_of(SYS_mmap)), SECCOMP_RET_TRACE);
}

TEST(FilterOfCalls, ManyRulesDoNotOutgrowItsJumps) {
  using enum ArgumentRule::Test;
  static constexpr std::array<ArgumentRule, 2> kOfValue{{{1, kIs, 7, {}}, {2, kIs, 9, kNoMemory}}};
  std::vector<CallRule> rules;
  for (int number = 0; number < 400; ++number)
    rules.push_back(
        {number, kPass, number % 2 == 0 ? std::span(kOfValue) : std::span<const ArgumentRule>{}});
  const auto filter = filter_of(rules);
  ASSERT_LT(filter.size(), static_cast<std::size_t>(BPF_MAXINSNS));
  for (int number = 0; number < 400; ++number) {
    ASSERT_EQ(verdict(filter, call_of(number)), SECCOMP_RET_ALLOW) << number;
    const auto expected = number % 2 == 0 ? kNoHugePages : SECCOMP_RET_ALLOW;
    ASSERT_EQ(verdict(filter, call_of(number, 2, 9)), expected) << number;
  }
  EXPECT_EQ(verdict(filter, call_of(401)), SECCOMP_RET_TRACE);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
