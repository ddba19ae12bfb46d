#include "sim/tracee/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "transport/realtime/prompt_call.h"

namespace anyrdma::sim::tracee {
namespace {

constexpr std::uint32_t kX32Bit = 0x4000'0000;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter give(std::uint32_t verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}

/// Skips the next instruction unless what was loaded is `value`.
sock_filter unless(std::uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

void allow(std::vector<sock_filter>& filter, int number) {
  filter.push_back(unless(static_cast<std::uint32_t>(number)));
  filter.push_back(give(SECCOMP_RET_ALLOW));
}

/// Begins with the number loaded, and ends so.
void allow_prompt_calls(std::vector<sock_filter>& filter) {
  constexpr std::uint32_t kUpperHalf = sizeof(std::uint32_t);
  const auto& calls = transport::realtime::prompt_calls();
  const auto length = static_cast<std::uint8_t>(2 * calls.size() + 1);
  filter.push_back(load(offsetof(seccomp_data, args[3]) + kUpperHalf));
  filter.push_back(
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, transport::realtime::kPromptMark, 0, length));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  for (const int number : calls) allow(filter, number);
  filter.push_back(load(offsetof(seccomp_data, nr)));
}

/// Of a call whose second argument says what it is to do.
void stop_some(std::vector<sock_filter>& filter, std::uint32_t number,
               std::initializer_list<std::uint32_t> commands) {
  const auto length = static_cast<std::uint8_t>(2 * commands.size() + 2);
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, length));
  filter.push_back(load(offsetof(seccomp_data, args[1])));
  for (const std::uint32_t command : commands) {
    filter.push_back(unless(command));
    filter.push_back(give(SECCOMP_RET_TRACE));
  }
  filter.push_back(give(SECCOMP_RET_ALLOW));
}

/// Begins with the number loaded, and ends so.
void stop_new_code(std::vector<sock_filter>& filter) {
  for (const int number : {SYS_mmap, SYS_mprotect, SYS_pkey_mprotect}) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4));
    filter.push_back(load(offsetof(seccomp_data, args[2])));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
    filter.push_back(give(SECCOMP_RET_TRACE));
    filter.push_back(load(offsetof(seccomp_data, nr)));
  }
}

/// Begins with the number loaded, and ends so. Each: a call, which of its arguments has flags, and
/// the flag.
void refuse_huge_pages(std::vector<sock_filter>& filter) {
  struct Place {
    std::uint32_t number;
    std::size_t argument;
    std::uint32_t flag;
  };
  constexpr Place kPlaces[] = {
      {SYS_mmap, 3, MAP_HUGETLB}, {SYS_shmget, 2, SHM_HUGETLB}, {SYS_memfd_create, 1, MFD_HUGETLB}};
  for (const auto& [number, argument, flag] : kPlaces) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
    filter.push_back(load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1));
    filter.push_back(give(SECCOMP_RET_ERRNO | ENOMEM));
    filter.push_back(load(offsetof(seccomp_data, nr)));
  }
}

}  // namespace

std::vector<sock_filter> filter_of(std::span<const int> untouched, NewCode new_code) {
  constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  filter.push_back(give(kNoSuchCall));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1));
  filter.push_back(give(kNoSuchCall));
  allow_prompt_calls(filter);
  refuse_huge_pages(filter);
  if (new_code == NewCode::kStops) stop_new_code(filter);
  for (const int number : untouched) allow(filter, number);
  stop_some(filter, SYS_ioctl, {SIOCGIFADDR, SIOCGIFNETMASK, SIOCGIFBRDADDR});
  stop_some(filter, SYS_fcntl, {F_SETLKW, F_OFD_SETLKW});
  stop_some(filter, SYS_prlimit64, {RLIMIT_CPU});
  filter.push_back(give(SECCOMP_RET_TRACE));
  return filter;
}

}  // namespace anyrdma::sim::tracee
