#include "transport/open/memory_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace anyrdma::transport {
namespace {

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

/// The lower half of an argument.
constexpr sock_filter load_argument(std::size_t number) {
  return load(offsetof(seccomp_data, args) + number * sizeof(std::uint64_t));
}

constexpr std::uint8_t kOfMadvise = 10;  ///< places in the filter
constexpr std::uint8_t kPass = 14;
constexpr std::uint8_t kStop = 15;

/// If the loaded value is `value`, the next instruction is the one at `then`, else that at
/// `otherwise`. `here`: the place of this instruction.
constexpr sock_filter is(std::uint8_t here, std::uint32_t value, unsigned then,
                         unsigned otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<std::uint8_t>(then - here - 1),
                  static_cast<std::uint8_t>(otherwise - here - 1));
}

constexpr unsigned kDontNeedLocked = 24;  ///< MADV_DONTNEED_LOCKED is not in all headers

constexpr std::array kFilter{
    load(offsetof(seccomp_data, arch)),
    is(1, AUDIT_ARCH_X86_64, 2, kPass),  // the supervisor's own filter refuses others
    load(offsetof(seccomp_data, nr)),
    is(3, SYS_munmap, kStop, 4),
    is(4, SYS_mremap, kStop, 5),
    is(5, SYS_brk, kStop, 6),
    is(6, SYS_madvise, kOfMadvise, 7),
    is(7, SYS_mmap, 8, kPass),
    load_argument(3),
    sock_filter(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, kStop - 10, kPass - 10)),
    load_argument(2),
    is(11, MADV_DONTNEED, kStop, 12),
    is(12, MADV_REMOVE, kStop, 13),
    is(13, kDontNeedLocked, kStop, kPass),
    sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
    sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)),
};
static_assert(kFilter.size() == kStop + 1);

}  // namespace

bool stop_at_memory_changes() {
  enum class Stops : std::uint8_t { kNone, kFirst, kAll };
  // Children of fork(2) have the filter, and the copy of this variable says so. It changes after
  // the filter is there: two filters are harmless, none is not.
  static std::atomic<Stops> stops = Stops::kNone;
  if (const Stops known = stops.load(); known != Stops::kNone) return known == Stops::kAll;
  const int error = errno;
  auto filter = kFilter;
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = filter.data()};
  // Not 0: an error, or the number of a thread that has a filter which this one has not.
  const bool all =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  if (!all) (void)::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  stops.store(all ? Stops::kAll : Stops::kFirst);
  errno = error;
  return all;
}

}  // namespace anyrdma::transport
