#include "sim/tracee/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

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

}  // namespace

std::vector<sock_filter> filter_of(std::span<const int> untouched) {
  constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  filter.push_back(give(kNoSuchCall));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1));
  filter.push_back(give(kNoSuchCall));
  for (const int number : untouched) {
    filter.push_back(unless(static_cast<std::uint32_t>(number)));
    filter.push_back(give(SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 1, 0));
  filter.push_back(give(SECCOMP_RET_TRACE));
  filter.push_back(load(offsetof(seccomp_data, args[1])));
  for (const int command : {F_SETLKW, F_OFD_SETLKW}) {
    filter.push_back(unless(static_cast<std::uint32_t>(command)));
    filter.push_back(give(SECCOMP_RET_TRACE));
  }
  filter.push_back(give(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace anyrdma::sim::tracee
