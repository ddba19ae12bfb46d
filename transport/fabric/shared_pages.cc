#include "transport/fabric/shared_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "transport/fabric/memory_map.h"
#include "transport/fabric/write_hold.h"

namespace anyrdma::transport::fabric {
namespace {

/// More would fragment the process's mappings, of which the kernel allows 65530.
constexpr std::size_t kExtentsMax = 4096;
/// Moved at once: threads that write there wait for so long, and so much memory exists twice.
constexpr std::uint64_t kStep = 8u << 20;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

bool is_zero(const std::uint8_t* page) {
  return page[0] == 0 && std::memcmp(page, page + 1, kNearPage - 1) == 0;
}

/// Where nothing was ever written nothing is allocated.
void copy_pages(std::uint8_t* to, const std::uint8_t* from, std::uint64_t size) {
  for (std::uint64_t at = 0; at < size; at += kNearPage)
    if (!is_zero(from + at)) std::memcpy(to + at, from + at, kNearPage);
}

/// The process has no threads but the caller's and `others`, which is how many are known not to
/// write to memory now.
bool nobody_else(int others) {
  const realtime::Descriptor fd(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (!fd || ::read(fd.get(), text.data(), text.size() - 1) <= 0) return false;
  const char* field = std::strrchr(text.data(), ')');  // its name may contain anything
  for (int i = 2; i < 20 && field != nullptr; ++i) field = std::strchr(field + 1, ' ');
  return field != nullptr && std::atoi(field) <= 1 + others;
}

/// Each with a thread that carries packets.
std::atomic<int> members{0};

/// Moves `fresh` to `address`, over what is there. Asks the kernel itself: libraries that watch a
/// program's memory put functions of their own in the place of libc's (UCX one that knows four of
/// the five arguments), and for them nothing happens here.
bool move_over(void* fresh, std::uint64_t size, std::uint64_t address) {
  const long at =
      ::syscall(SYS_mremap, fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pointer(address));
  return static_cast<std::uint64_t>(at) == address;
}

/// Puts `fresh` in the place of the pages at `address`, with their contents, in one step.
bool exchange(std::uint64_t address, std::uint64_t size, void* fresh) {
  if (fresh == MAP_FAILED) return false;
  {
    const WriteHold hold(address, size);
    if (hold.holds() || nobody_else(members)) {
      copy_pages(static_cast<std::uint8_t*>(fresh),
                 static_cast<const std::uint8_t*>(pointer(address)), size);
      if (move_over(fresh, size, address)) return true;
    }
  }
  ::munmap(fresh, size);
  return false;
}

}  // namespace

SharedPages::SharedPages(int fd, std::uint64_t first) : fd_(fd), file_size_(first), end_(first) {
  ++members;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  inode_ = status.st_ino;
  device_ = status.st_dev;
}

SharedPages::~SharedPages() {
  --members;
}

bool SharedPages::is_ours(const Mapping& mapping) const {
  return mapping.shared && mapping.inode == inode_ && mapping.device == device_;
}

// --- sharing ------------------------------------------------------------------------------------

std::vector<NearRange> SharedPages::share(std::uint64_t begin, std::uint64_t end) {
  std::vector<NearRange> ranges;
  begin = (begin + kNearPage - 1) / kNearPage * kNearPage;
  end = end / kNearPage * kNearPage;
  const auto here = reinterpret_cast<std::uintptr_t>(&ranges);
  if (begin >= end || (here >= begin && here < end)) return ranges;
  sweep();
  const auto add = [&ranges](const NearRange& range) {
    if (!ranges.empty() && ranges.back().end == range.begin &&
        ranges.back().at + (ranges.back().end - ranges.back().begin) == range.at) {
      ranges.back().end = range.end;
    } else {
      ranges.push_back(range);
    }
  };
  for (const Mapping& mapping : mappings_in(begin, end)) {
    const std::uint64_t from = std::max(begin, mapping.begin);
    const std::uint64_t to = std::min(end, mapping.end);
    if (ranges.size() == kNearRanges) break;
    if (is_ours(mapping) && mapping.write) {
      const NearRange range{from, to, mapping.offset + (from - mapping.begin)};
      add(range);
    } else if (mapping.read && mapping.write && !mapping.execute && !mapping.shared &&
               mapping.inode == 0 && !mapping.named) {
      NearRange range;
      if (move_in(from, to, range) > 0) add(range);
    }
  }
  for (const NearRange& range : ranges) use(range, 1);
  return ranges;
}

/// Gives how much could be moved, from the front.
std::uint64_t SharedPages::move_in(std::uint64_t begin, std::uint64_t end, NearRange& range) {
  const std::uint64_t at = extents_.size() < kExtentsMax ? allocate(end - begin) : 0;
  if (at == 0) return 0;
  std::uint64_t moved = 0;
  while (moved < end - begin) {
    const std::uint64_t size = std::min(kStep, end - begin - moved);
    void* fresh = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                         static_cast<off_t>(at + moved));
    if (!exchange(begin + moved, size, fresh)) break;
    moved += size;
  }
  free(at + moved, end - begin - moved);
  if (moved > 0) extents_[at] = {.size = moved, .users = 0};
  range = {begin, begin + moved, at};
  return moved;
}

void SharedPages::use(const NearRange& range, int change) {
  const std::uint64_t end = range.at + (range.end - range.begin);
  auto extent = extents_.upper_bound(range.at);
  if (extent != extents_.begin()) --extent;
  for (; extent != extents_.end() && extent->first < end; ++extent) {
    if (extent->first + extent->second.size > range.at)
      extent->second.users += static_cast<std::uint32_t>(change);
  }
}

void SharedPages::release(const std::vector<NearRange>& ranges) {
  for (const NearRange& range : ranges) use(range, -1);
  sweep();
}

/// Frees the extents that nobody uses, unless their pages must stay where they are for now.
void SharedPages::sweep() {
  for (auto extent = extents_.begin(); extent != extents_.end();) {
    const auto [at, what] = *extent;
    if (what.users == 0 && move_out(at, what.size)) {
      free(at, what.size);
      extent = extents_.erase(extent);
    } else {
      ++extent;
    }
  }
}

/// Makes pages of the file private wherever they are mapped. The application may have unmapped,
/// moved or protected them.
bool SharedPages::move_out(std::uint64_t at, std::uint64_t size) const {
  bool all = true;
  for (const Mapping& mapping : mappings_in(0, ~std::uint64_t{0})) {
    if (!is_ours(mapping)) continue;
    const std::uint64_t first = std::max(at, mapping.offset);
    const std::uint64_t last = std::min(at + size, mapping.offset + (mapping.end - mapping.begin));
    const bool usual = mapping.read && mapping.write;
    for (std::uint64_t now = first; now < last; now += kStep) {
      const std::uint64_t part = std::min(kStep, last - now);
      void* fresh =
          ::mmap(nullptr, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (!usual || !exchange(mapping.begin + (now - mapping.offset), part, fresh)) all = false;
    }
  }
  return all;
}

// --- room in the file ---------------------------------------------------------------------------

std::uint64_t SharedPages::allocate(std::uint64_t size) {
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    if (gap->second < size) continue;
    const auto [at, room] = *gap;
    free_.erase(gap);
    if (room > size) free_[at + size] = room - size;
    return at;
  }
  const std::uint64_t at = end_;
  if (at + size > file_size_) {
    // It grows by doubling, for those who map it; memory comes with use.
    const std::uint64_t larger = std::max(file_size_ * 2, at + size);
    if (::ftruncate(fd_, static_cast<off_t>(larger)) != 0) return 0;
    file_size_ = larger;
  }
  end_ += size;
  return at;
}

void SharedPages::free(std::uint64_t at, std::uint64_t size) {
  if (size == 0) return;
  (void)::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                    static_cast<off_t>(size));
  auto next = free_.lower_bound(at);
  if (next != free_.end() && at + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == at) {
      previous->second += size;
      return;
    }
  }
  free_[at] = size;
}

// --- fork ---------------------------------------------------------------------------------------

void SharedPages::copy_for_child() const {
  for (const Mapping& mapping : mappings_in(0, ~std::uint64_t{0})) {
    if (!is_ours(mapping) || mapping.offset < sizeof(NearSegment)) continue;
    const std::uint64_t size = mapping.end - mapping.begin;
    void* const fresh =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) std::abort();  // the parent's memory must not become the child's
    // What was never written has no page to be read.
    const auto end = static_cast<off_t>(mapping.offset + size);
    auto at = static_cast<off_t>(mapping.offset);
    while ((at = ::lseek(fd_, at, SEEK_DATA)) >= 0 && at < end) {
      off_t hole = std::min(::lseek(fd_, at, SEEK_HOLE), end);
      auto* const to =
          static_cast<std::uint8_t*>(fresh) + (static_cast<std::uint64_t>(at) - mapping.offset);
      const ssize_t got = ::pread(fd_, to, static_cast<std::size_t>(hole - at), at);
      if (got <= 0) std::abort();
      at += got;
    }
    const int protection = (mapping.read ? PROT_READ : 0) | (mapping.write ? PROT_WRITE : 0) |
                           (mapping.execute ? PROT_EXEC : 0);
    ::mprotect(fresh, size, protection);
    if (!move_over(fresh, size, mapping.begin)) std::abort();
  }
}

}  // namespace anyrdma::transport::fabric
