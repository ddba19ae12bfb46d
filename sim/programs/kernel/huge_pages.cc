#include "sim/programs/kernel/huge_pages.h"

#include <linux/memfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "sim/host.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/repeated_call.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint64_t kBinary = 21;  ///< logarithm of the size of a page
constexpr std::uint64_t kSizeBits = 0x3full << MAP_HUGE_SHIFT;
constexpr long kErrorsEnd = -4095;

std::uint64_t aligned(std::uint64_t value) {
  return (value + HugePages::kBytes - 1) / HugePages::kBytes * HugePages::kBytes;
}

bool is_error(long result) {
  return result < 0 && result >= kErrorsEnd;
}

/// Flags of mmap, shmget and memfd_create have the size in the same bits. 0: pages as usual.
bool asks_for_our_size(std::uint64_t flags) {
  const std::uint64_t binary = (flags & kSizeBits) >> MAP_HUGE_SHIFT;
  return binary == 0 || binary == kBinary;
}

/// The thread, at the entry of a call, makes another one. nullopt: something else has happened.
std::optional<long> make_instead(Thread& thread, const Call& other) {
  auto registers = thread.tracee().registers();
  if (!registers) return std::nullopt;
  registers->orig_rax = static_cast<unsigned long long>(other.number);
  registers->rdi = other.arguments[0];
  registers->rsi = other.arguments[1];
  registers->rdx = other.arguments[2];
  registers->r10 = other.arguments[3];
  registers->r8 = other.arguments[4];
  registers->r9 = other.arguments[5];
  thread.tracee().set_registers(*registers);
  return thread.finish_call();
}

/// An address at which so many bytes are free; 0: there is none. The thread is at the entry of
/// `call` before and afterwards. nullopt: something else has happened.
std::optional<std::uint64_t> find_place(Thread& thread, const Call& call, std::uint64_t bytes) {
  const std::uint64_t room = bytes + HugePages::kBytes;
  constexpr std::uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const auto at = make_instead(thread, {SYS_mmap, {0, room, PROT_NONE, kFlags, ~0ull, 0}});
  if (!at || !make_again(thread, call)) return std::nullopt;
  if (is_error(*at)) return 0;
  const auto begin = static_cast<std::uint64_t>(*at);
  if (!make_instead(thread, {SYS_munmap, {begin, room, 0, 0, 0, 0}}) || !make_again(thread, call))
    return std::nullopt;
  return aligned(begin);
}

Outcome interrupted(const Thread& thread) {
  return thread.is_over() ? Outcome::over() : Outcome::made();
}

}  // namespace

/// Maps `plain`, which asks for no huge pages, at an aligned address instead of `call`.
Outcome HugePages::map(Thread& thread, const Call& call, Call plain, std::uint64_t bytes) {
  const unsigned address = call.number == SYS_shmat ? 1 : 0;
  const bool fixed =
      call.number == SYS_mmap && (call.arguments[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  if (fixed && call.arguments[0] % kBytes != 0) return Outcome::answered(-EINVAL);
  if (!fixed && (plain.arguments[address] == 0 || plain.arguments[address] % kBytes != 0)) {
    const auto place = find_place(thread, call, bytes);
    if (!place) return interrupted(thread);
    if (*place == 0) return Outcome::answered(-ENOMEM);
    plain.arguments[address] = *place;
  }
  const auto result = make_instead(thread, plain);
  if (!result) return interrupted(thread);
  if (!is_error(*result)) {
    const auto begin = static_cast<std::uint64_t>(*result);
    // What a System V object has is counted with the object.
    if (call.number == SYS_mmap) ranges_.push_back({&thread.process(), begin, begin + bytes});
    tell(*thread.process().host);
  }
  return returned(thread, call, *result);
}

Outcome HugePages::on_mmap(Thread& thread, const Call& call) {
  const std::uint64_t flags = call.arguments[3];
  const std::uint64_t bytes = aligned(call.arguments[1]);
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  if (call.arguments[1] == 0 || bytes < call.arguments[1]) return Outcome::answered(-EINVAL);
  if (!anonymous && !is_huge(thread.borrow(static_cast<int>(call.arguments[4]))))
    return Outcome::answered(-EINVAL);
  if (!asks_for_our_size(flags) || !has_room(thread, bytes)) return Outcome::answered(-ENOMEM);
  Call plain = call;
  plain.arguments[1] = bytes;
  plain.arguments[3] = flags & ~(MAP_HUGETLB | (anonymous ? kSizeBits : 0));
  return map(thread, call, plain, bytes);
}

Outcome HugePages::on_shmget(Thread& thread, const Call& call) {
  supervisor_.note_objects(*thread.process().host);
  if ((call.arguments[2] & SHM_HUGETLB) == 0) return Outcome::made();
  const std::uint64_t bytes = aligned(call.arguments[1]);
  const bool asks = bytes != 0 && bytes >= call.arguments[1];
  if (!asks_for_our_size(call.arguments[2]) || (asks && !has_room(thread, bytes)))
    return Outcome::answered(-ENOMEM);
  Call plain = call;
  if (asks) plain.arguments[1] = bytes;
  plain.arguments[2] &= ~(SHM_HUGETLB | kSizeBits);
  const auto id = make_instead(thread, plain);
  if (!id) return interrupted(thread);
  if (!is_error(*id)) {
    shared_.try_emplace({thread.process().host, static_cast<int>(*id)}, bytes);
    tell(*thread.process().host);
  }
  return returned(thread, call, *id);
}

Outcome HugePages::on_shmat(Thread& thread, const Call& call) {
  thread.process().writes_shared = true;
  const auto found = shared_.find({thread.process().host, static_cast<int>(call.arguments[0])});
  if (found == shared_.end() || call.arguments[1] != 0) return Outcome::made();
  return map(thread, call, call, found->second);
}

Outcome HugePages::on_shmctl(Thread& thread, const Call& call) {
  const auto result = thread.finish_call();
  if (!result) return interrupted(thread);
  if (*result == 0) shared_.erase({thread.process().host, static_cast<int>(call.arguments[0])});
  tell(*thread.process().host);
  return Outcome::made();
}

Outcome HugePages::on_memfd_create(Thread& thread, const Call& call) {
  if (!asks_for_our_size(call.arguments[1]) || options_.pages == 0)
    return Outcome::answered(-ENOMEM);
  Call plain = call;
  plain.arguments[1] &= ~(MFD_HUGETLB | kSizeBits);
  const auto fd = make_instead(thread, plain);
  if (!fd) return interrupted(thread);
  struct stat about {};
  const Descriptor descriptor = thread.borrow(static_cast<int>(*fd));
  if (descriptor && ::fstat(descriptor.get(), &about) == 0)
    files_.emplace(about.st_dev, about.st_ino);
  return returned(thread, call, *fd);
}

void HugePages::on_process_gone(const Process& process) {
  if (std::erase_if(ranges_, [&](const Range& each) { return each.process == &process; }) != 0)
    tell(*process.host);
}

bool HugePages::is_huge(const Descriptor& descriptor) const {
  struct stat about {};
  return !files_.empty() && descriptor && ::fstat(descriptor.get(), &about) == 0 &&
         files_.contains({about.st_dev, about.st_ino});
}

bool HugePages::has_room(const Thread& thread, std::uint64_t bytes) {
  const std::uint64_t all = options_.pages * kBytes;
  const std::uint64_t used = used_on(*thread.process().host);
  return used <= all && bytes <= all - used;
}

/// In bytes. What is not mapped any more is forgotten.
std::uint64_t HugePages::used_on(const Host& host) {
  std::uint64_t used = 0;
  std::vector<Range> left;
  for (const Range& each : ranges_) {
    if (each.process->status) continue;
    std::ifstream maps("/proc/" + std::to_string(each.process->pid) + "/maps");
    std::uint64_t there = 0;
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
      begin = std::max(begin, each.begin);
      end = std::min(end, each.end);
      if (begin < end) there += end - begin;
    }
    if (there == 0) continue;
    left.push_back(each);
    if (each.process->host == &host) used += aligned(there);
  }
  ranges_ = std::move(left);
  for (const auto& [object, bytes] : shared_) {
    if (object.first == &host) used += bytes;
  }
  return used;
}

void HugePages::tell(const Host& host) {
  if (!options_.on_change) return;
  const std::uint64_t used = used_on(host) / kBytes;
  const std::uint64_t all = options_.pages;
  options_.on_change(host, static_cast<unsigned>(all - std::min(all, used)));
}

}  // namespace anyrdma::sim::programs
