#include "sim/regions/calls_of_fibers.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/regions/region_watch.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANYRDMA_SANITIZER_DEFINES_MMAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ANYRDMA_SANITIZER_DEFINES_MMAP
#endif
#endif

#ifdef ANYRDMA_SANITIZER_DEFINES_MMAP

namespace anyrdma::sim {

void watch_own_memory(verbs::LostMemory& /*lost*/, std::uint64_t /*begin*/, std::uint64_t /*end*/,
                      verbs::soft::OwnershipSink& /*sink*/) {}
void forget_own_memory(verbs::LostMemory& /*lost*/) {}

}  // namespace anyrdma::sim

#else

namespace anyrdma::sim {
namespace {

using verbs::LostMemory;
using verbs::MemoryCall;

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::uint64_t id_of(const LostMemory& lost) {
  return reinterpret_cast<std::uintptr_t>(&lost);
}

/// The regions of all fibers of this process.
class OwnRegions {
 public:
  static OwnRegions& instance() {
    static OwnRegions* const regions = new OwnRegions;  // fibers of static worlds may end after it
    return *regions;
  }

  void watch(LostMemory& lost, Span span, verbs::soft::OwnershipSink& sink) {
    const std::lock_guard lock(mutex_);
    regions_.watch(id_of(lost), span.begin, span.end);
    watched_[id_of(lost)] = {&lost, &sink, std::this_thread::get_id()};
    count_.store(watched_.size(), std::memory_order_relaxed);
  }

  void forget(LostMemory& lost) {
    const std::lock_guard lock(mutex_);
    regions_.forget(id_of(lost));
    watched_.erase(id_of(lost));
    count_.store(watched_.size(), std::memory_order_relaxed);
  }

  /// Whether there is any region: other calls cost nothing.
  [[nodiscard]] bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

  /// Returns what is mapped at an address, if a region may be concerned.
  [[nodiscard]] std::vector<Mapping> before(Span span) {
    if (!any()) return {};
    const std::lock_guard lock(mutex_);
    if (!regions_.touches(span.begin, span.end)) return {};
    return mappings_of(::getpid(), span.begin, span.end);
  }

  void lose(MemoryCall call, Span span, const std::vector<Mapping>& before) {
    if (before.empty()) return;
    const std::lock_guard lock(mutex_);
    const auto own = std::ranges::find_if(watched_, [](const auto& each) {
      return each.second.thread == std::this_thread::get_id();
    });
    if (own == watched_.end()) return;
    regions_.lose(
        {.begin = span.begin, .end = span.end, .call = call, .mark = own->second.sink->mark()},
        before, writer());
  }

  void regain(Span span) {
    if (!any()) return;
    const std::lock_guard lock(mutex_);
    if (regions_.may_regain())
      regions_.regain(mappings_of(::getpid(), span.begin, span.end), writer());
  }

 private:
  struct Watched {
    LostMemory* lost = nullptr;
    verbs::soft::OwnershipSink* sink = nullptr;
    std::thread::id thread{};
  };

  [[nodiscard]] RegionWatch::OnChange writer() {
    return [this](std::uint64_t id, const LostMemory& lost) { *watched_.at(id).lost = lost; };
  }

  std::mutex mutex_;
  RegionWatch regions_;
  std::map<std::uint64_t, Watched> watched_;  ///< by id
  std::atomic<std::size_t> count_ = 0;
};

/// The calls below must not change errno when they succeed.
class KeptErrno {
 public:
  KeptErrno() : error_(errno) {}
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int error_;
};

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// What shmat(2) has mapped at an address: mappings of one object, side by side.
Span object_at(std::uint64_t address) {
  Span span{address, address};
  std::string file;
  for (const Mapping& each : mappings_of(::getpid(), address, kAll)) {
    if (each.begin != span.end || each.file.empty() || (!file.empty() && each.file != file)) break;
    file = each.file;
    span.end = each.end;
  }
  return span;
}

void* map(void* at, std::size_t bytes, int rights, int flags, int file, off64_t offset) {
  OwnRegions& regions = OwnRegions::instance();
  const Span span = pages_at(address_of(at), bytes);
  const bool replaces = (flags & MAP_FIXED) != 0;
  const auto before = replaces ? regions.before(span) : std::vector<Mapping>{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's answer
  auto* const result =
      reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, rights, flags, file, offset));
  if (result == MAP_FAILED) return result;
  const KeptErrno kept;
  regions.lose(MemoryCall::kMmap, span, before);
  if ((flags & MAP_SHARED) != 0) regions.regain(pages_at(address_of(result), bytes));
  return result;
}

}  // namespace

void watch_own_memory(LostMemory& lost, std::uint64_t begin, std::uint64_t end,
                      verbs::soft::OwnershipSink& sink) {
  OwnRegions::instance().watch(lost, {begin, end}, sink);
}

void forget_own_memory(LostMemory& lost) {
  OwnRegions::instance().forget(lost);
}

}  // namespace anyrdma::sim

// Weak: a program may have functions of these names, of an allocator for example.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved names
extern "C" {

using anyrdma::sim::address_of;
using anyrdma::sim::KeptErrno;
using anyrdma::sim::Mapping;
using anyrdma::sim::OwnRegions;
using anyrdma::sim::pages_at;
using anyrdma::sim::Span;
using anyrdma::verbs::MemoryCall;

[[gnu::weak]] void* mmap(void* at, std::size_t bytes, int rights, int flags, int file,
                         off_t offset) noexcept {
  return anyrdma::sim::map(at, bytes, rights, flags, file, offset);
}

[[gnu::weak]] void* mmap64(void* at, std::size_t bytes, int rights, int flags, int file,
                           off64_t offset) noexcept {
  return anyrdma::sim::map(at, bytes, rights, flags, file, offset);
}

[[gnu::weak]] int munmap(void* at, std::size_t bytes) noexcept {
  OwnRegions& regions = OwnRegions::instance();
  const Span span = pages_at(address_of(at), bytes);
  const auto before = regions.before(span);
  if (::syscall(SYS_munmap, at, bytes) != 0) return -1;
  const KeptErrno kept;
  regions.lose(MemoryCall::kMunmap, span, before);
  return 0;
}

[[gnu::weak]] void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                           ...) noexcept {
  OwnRegions& regions = OwnRegions::instance();
  void* fixed = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    std::va_list more;
    va_start(more, flags);
    fixed = va_arg(more, void*);
    va_end(more);
  }
  const Span from = pages_at(address_of(old), old_bytes);
  const Span to = fixed != nullptr ? pages_at(address_of(fixed), bytes) : Span{};
  const auto before = regions.before(from);
  const auto replaced = regions.before(to);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's answer
  auto* const result =
      reinterpret_cast<void*>(::syscall(SYS_mremap, old, old_bytes, bytes, flags, fixed));
  if (result == MAP_FAILED) return result;
  const KeptErrno kept;
  regions.lose(MemoryCall::kMremap, to, replaced);
  Span gone = from;
  if (result == old) gone.begin = std::min(pages_at(address_of(old), bytes).end, from.end);
  if (old_bytes != 0) regions.lose(MemoryCall::kMremap, gone, before);
  regions.regain(pages_at(address_of(result), bytes));
  return result;
}

[[gnu::weak]] int madvise(void* at, std::size_t bytes, int advice) noexcept {
  OwnRegions& regions = OwnRegions::instance();
  const Span span = pages_at(address_of(at), bytes);
  std::vector<Mapping> before;
  if (advice == MADV_DONTNEED || advice == MADV_REMOVE) before = regions.before(span);
  // Pages of a file or a shared object are the same when they are accessed next.
  if (advice == MADV_DONTNEED)
    std::erase_if(before, [](const Mapping& each) { return !each.file.empty(); });
  if (::syscall(SYS_madvise, at, bytes, advice) != 0) return -1;
  const KeptErrno kept;
  for (Mapping& each : before) each.file.clear();
  regions.lose(MemoryCall::kMadvise, span, before);
  return 0;
}

[[gnu::weak]] int shmdt(const void* at) noexcept {
  OwnRegions& regions = OwnRegions::instance();
  const Span span = regions.any() ? anyrdma::sim::object_at(address_of(at)) : Span{};
  const auto before = regions.before(span);
  if (::syscall(SYS_shmdt, at) != 0) return -1;
  const KeptErrno kept;
  regions.lose(MemoryCall::kShmdt, span, before);
  return 0;
}

[[gnu::weak]] void* shmat(int object, const void* at, int flags) noexcept {
  OwnRegions& regions = OwnRegions::instance();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's answer
  auto* const result = reinterpret_cast<void*>(::syscall(SYS_shmat, object, at, flags));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): shmat(2) says so
  if (result == reinterpret_cast<void*>(-1) || !regions.any()) return result;
  const KeptErrno kept;
  regions.regain(anyrdma::sim::object_at(address_of(result)));
  return result;
}

}  // extern "C"
   // NOLINTEND(readability-inconsistent-declaration-parameter-name)

#endif
