// What the filter says of each system call, as the kernel would read it.
#include "sim/tracee/filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "transport/realtime/prompt_call.h"

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

seccomp_data call_of(long number, std::uint64_t second = 0) {
  return {.nr = static_cast<int>(number),
          .arch = AUDIT_ARCH_X86_64,
          .instruction_pointer = 0,
          .args = {0, second, 0, 0, 0, 0}};
}

constexpr std::array<int, 3> kUntouched{SYS_mmap, SYS_getpid, SYS_close};

TEST(FilterOfCalls, WhatIsNamedIsLeftToTheKernel) {
  const auto filter = filter_of(kUntouched);
  for (const int number : kUntouched)
    EXPECT_EQ(verdict(filter, call_of(number)), SECCOMP_RET_ALLOW) << number;
}

TEST(FilterOfCalls, EverythingElseStopsTheThread) {
  const auto filter = filter_of(kUntouched);
  for (const int number : {SYS_read, SYS_futex, SYS_clock_gettime, 999})
    EXPECT_EQ(verdict(filter, call_of(number)), SECCOMP_RET_TRACE) << number;
}

TEST(FilterOfCalls, OfFcntlOnlyWhatMayWaitForALockStops) {
  const auto filter = filter_of(kUntouched);
  for (const int command : {F_SETLKW, F_OFD_SETLKW})
    EXPECT_EQ(verdict(filter, call_of(SYS_fcntl, static_cast<std::uint64_t>(command))),
              SECCOMP_RET_TRACE);
  for (const int command : {F_GETFL, F_SETFL, F_DUPFD, F_SETLK, F_OFD_SETLK})
    EXPECT_EQ(verdict(filter, call_of(SYS_fcntl, static_cast<std::uint64_t>(command))),
              SECCOMP_RET_ALLOW);
}

TEST(FilterOfCalls, OfThoseThatBearTheMarkOnlyOursAreLeftToTheKernel) {
  const auto filter = filter_of(kUntouched);
  const auto with_fourth = [](long number, std::uint64_t fourth) {
    seccomp_data call = call_of(number);
    call.args[3] = fourth;
    return call;
  };
  constexpr std::uint64_t kMark = std::uint64_t{transport::realtime::kPromptMark} << 32;
  constexpr std::uint64_t kFlags = 0x4040;
  for (const int number : transport::realtime::prompt_calls()) {
    EXPECT_EQ(verdict(filter, with_fourth(number, kMark | kFlags)), SECCOMP_RET_ALLOW) << number;
    EXPECT_EQ(verdict(filter, with_fourth(number, kFlags)), SECCOMP_RET_TRACE) << number;
    EXPECT_EQ(verdict(filter, with_fourth(number, ~std::uint64_t{0})), SECCOMP_RET_TRACE) << number;
  }
  for (const int number : {SYS_read, SYS_futex, SYS_clock_gettime, SYS_poll})
    EXPECT_EQ(verdict(filter, with_fourth(number, kMark)), SECCOMP_RET_TRACE) << number;
  EXPECT_EQ(verdict(filter, with_fourth(SYS_mmap, kMark)), SECCOMP_RET_ALLOW);
}

TEST(FilterOfCalls, LimitsOfProcessorTimeStopAndNoOthers) {
  const auto filter = filter_of(kUntouched);
  EXPECT_EQ(verdict(filter, call_of(SYS_prlimit64, RLIMIT_CPU)), SECCOMP_RET_TRACE);
  EXPECT_EQ(verdict(filter, call_of(SYS_prlimit64, RLIMIT_STACK)), SECCOMP_RET_ALLOW);
}

TEST(FilterOfCalls, WhatMakesMemoryExecutableStopsIfThatIsWanted) {
  constexpr std::array<int, 3> kMemory{SYS_mmap, SYS_mprotect, SYS_pkey_mprotect};
  for (const int number : kMemory) {
    seccomp_data code = call_of(number);
    code.args[2] = PROT_READ | PROT_EXEC;
    seccomp_data data = call_of(number);
    data.args[2] = PROT_READ | PROT_WRITE;
    EXPECT_EQ(verdict(filter_of(kMemory), code), SECCOMP_RET_ALLOW);
    const auto filter = filter_of(kMemory, NewCode::kStops);
    EXPECT_EQ(verdict(filter, code), SECCOMP_RET_TRACE);
    EXPECT_EQ(verdict(filter, data), SECCOMP_RET_ALLOW);
  }
}

// Whether the machine has some to spare is nothing that a run may depend on.
TEST(FilterOfCalls, NobodyHasHugePages) {
  constexpr std::array<int, 3> kMemory{SYS_mmap, SYS_shmget, SYS_memfd_create};
  const auto filter = filter_of(kMemory, NewCode::kStops);
  const auto asked = [&filter](long number, unsigned argument, std::uint64_t flags) {
    seccomp_data call = call_of(number);
    call.args[argument] = flags;
    return verdict(filter, call);
  };
  EXPECT_EQ(asked(SYS_mmap, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB), kNoHugePages);
  EXPECT_EQ(asked(SYS_shmget, 2, IPC_CREAT | SHM_HUGETLB | 0600), kNoHugePages);
  EXPECT_EQ(asked(SYS_memfd_create, 1, MFD_CLOEXEC | MFD_HUGETLB), kNoHugePages);
  EXPECT_EQ(asked(SYS_mmap, 3, MAP_PRIVATE | MAP_ANONYMOUS), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_shmget, 2, IPC_CREAT | 0600), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_memfd_create, 1, MFD_CLOEXEC), SECCOMP_RET_ALLOW);
}

TEST(FilterOfCalls, OtherArchitecturesHaveNoCalls) {
  const auto filter = filter_of(kUntouched);
  seccomp_data old = call_of(SYS_getpid);
  old.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(verdict(filter, old), kNoSuchCall);
  EXPECT_EQ(verdict(filter, call_of(SYS_getpid | 0x4000'0000)), kNoSuchCall) << "x32";
}

TEST(FilterOfCalls, WithNothingNamedAllStops) {
  EXPECT_EQ(verdict(filter_of({}), call_of(SYS_mmap)), SECCOMP_RET_TRACE);
}

TEST(FilterOfCalls, ManyNamesDoNotOutgrowItsJumps) {
  std::vector<int> all(400);
  std::iota(all.begin(), all.end(), 0);
  std::erase(all, SYS_fcntl);
  const auto filter = filter_of(all);
  ASSERT_LT(filter.size(), static_cast<std::size_t>(BPF_MAXINSNS));
  for (const int number : all)
    ASSERT_EQ(verdict(filter, call_of(number)), SECCOMP_RET_ALLOW) << number;
  EXPECT_EQ(verdict(filter, call_of(401)), SECCOMP_RET_TRACE);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
