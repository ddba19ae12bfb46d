#include "sim/programs/io/directories.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/programs/kernel/directory_names.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

struct Entry {
  std::string name;
  ino_t inode = 0;
  unsigned char kind = DT_UNKNOWN;
};

/// The directory itself and the one above it come first.
bool is_before(std::string_view left, std::string_view right) {
  const auto rank = [](std::string_view name) { return name == "." ? 0 : name == ".." ? 1 : 2; };
  return rank(left) != rank(right) ? rank(left) < rank(right) : left < right;
}

/// The kernel has other directories in order already, or a program of a simulated host may have to
/// answer, or the directory is gone.
bool is_sorted_here(const Descriptor& descriptor) {
  constexpr long kFuse = 0x65735546;  // FUSE_SUPER_MAGIC
  struct stat about {};
  struct statfs system {};
  const bool there = ::fstat(descriptor.get(), &about) == 0 && about.st_nlink != 0;
  return there && S_ISDIR(about.st_mode) && ::fstatfs(descriptor.get(), &system) == 0 &&
         system.f_type != PROC_SUPER_MAGIC && system.f_type != kFuse;
}

/// From its beginning, in order. nullopt: it cannot be read.
std::optional<std::vector<Entry>> entries_of(const Descriptor& directory) {
  constexpr std::size_t kPiece = 1 << 16;
  constexpr std::size_t kName = offsetof(dirent64, d_name);
  std::vector<Entry> entries;
  std::vector<std::byte> piece(kPiece);
  if (::lseek(directory.get(), 0, SEEK_SET) != 0) return std::nullopt;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory.get(), piece.data(), piece.size());
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    for (auto rest = std::span(piece).first(static_cast<std::size_t>(size)); rest.size() > kName;) {
      dirent64 head{};
      std::memcpy(&head, rest.data(), kName);
      if (head.d_reclen <= kName || head.d_reclen > rest.size()) return std::nullopt;
      const char* const name = reinterpret_cast<const char*>(rest.data()) + kName;
      entries.push_back(
          {std::string(name, ::strnlen(name, head.d_reclen - kName)), head.d_ino, head.d_type});
      rest = rest.subspan(head.d_reclen);
    }
  }
  std::ranges::sort(entries, is_before, &Entry::name);
  return entries;
}

/// As getdents64 writes it, or getdents, which has the kind at the end.
std::vector<std::byte> record_of(const Entry& entry, std::int64_t position, bool is_old) {
  constexpr std::size_t kName = offsetof(dirent64, d_name);
  constexpr std::size_t kOldName = offsetof(dirent64, d_type);
  constexpr std::size_t kUnit = alignof(std::int64_t);
  const std::size_t name_at = is_old ? kOldName : kName;
  const std::size_t size = name_at + entry.name.size() + (is_old ? 2 : 1);
  std::vector<std::byte> record((size + kUnit - 1) / kUnit * kUnit);
  dirent64 head{};
  head.d_ino = entry.inode;
  head.d_off = position;
  head.d_reclen = static_cast<unsigned short>(record.size());
  head.d_type = entry.kind;
  std::memcpy(record.data(), &head, name_at);
  std::memcpy(record.data() + name_at, entry.name.data(), entry.name.size());
  if (is_old) record.back() = std::byte{entry.kind};
  return record;
}

}  // namespace

Outcome on_getdents(Thread& thread, const Call& call) {
  constexpr std::int64_t kEnd = DirectoryNames::kEnd;
  constexpr std::uint64_t kRoomMax = 1 << 20;
  const Descriptor directory = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!directory || !is_sorted_here(directory)) return Outcome::made();
  DirectoryNames& names = thread.supervisor().kernel().directory_names;
  const off_t begin = ::lseek(directory.get(), 0, SEEK_CUR);
  const std::string* const last = names.name_before(begin);
  if (begin < 0 || ::lseek(directory.get(), kEnd, SEEK_SET) != kEnd) return Outcome::made();
  if (begin != 0 && last == nullptr) return Outcome::answered(0);
  const auto entries = entries_of(directory);
  (void)::lseek(directory.get(), begin, SEEK_SET);
  if (!entries) return Outcome::made();
  const auto room = std::min<std::uint64_t>(static_cast<unsigned>(call.arguments[2]), kRoomMax);
  auto next = last == nullptr ? entries->begin()
                              : std::ranges::upper_bound(*entries, *last, is_before, &Entry::name);
  if (next == entries->end()) return Outcome::answered(0);
  std::vector<std::byte> bytes;
  std::int64_t end = begin;
  for (; next != entries->end(); ++next) {
    const std::int64_t position = names.position_behind(next->name);
    const auto record = record_of(*next, position, call.number == SYS_getdents);
    if (bytes.size() + record.size() > room) break;
    bytes.insert(bytes.end(), record.begin(), record.end());
    end = position;
  }
  if (bytes.empty()) return Outcome::answered(-EINVAL);
  if (!thread.tracee().write(call.arguments[1], bytes)) return Outcome::answered(-EFAULT);
  (void)::lseek(directory.get(), next == entries->end() ? kEnd : end, SEEK_SET);
  return Outcome::answered(static_cast<long>(bytes.size()));
}

}  // namespace anyrdma::sim::programs
