#include "transport/fabric/near/process_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace anyrdma::transport::fabric {
namespace {

/// Programs' own descriptors, which are the lowest that are free, seldom come here: so one that is
/// closed by mistake is not soon another's.
constexpr rlim_t kHigh = 512;

realtime::Descriptor moved_up(realtime::Descriptor fd) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  const auto lowest = static_cast<int>(std::min(kHigh, limit.rlim_cur / 2));
  realtime::Descriptor higher(::fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest));
  return higher ? std::move(higher) : std::move(fd);
}

std::uint64_t size_of(std::span<const iovec> parts) {
  std::uint64_t size = 0;
  for (const iovec& part : parts) size += part.iov_len;
  return size;
}

}  // namespace

std::optional<ProcessMemory> ProcessMemory::open_own(std::uint64_t position) {
  std::optional<ProcessMemory> memory =
      adopt(realtime::Descriptor(::open("/proc/self/mem", O_RDWR | O_CLOEXEC)));
  if (!memory || !memory->move_to(position)) return std::nullopt;
  return memory;
}

// Only of regular files does the kernel lock the position, and only a file of /proc cannot make us
// wait for what some process does.
std::optional<ProcessMemory> ProcessMemory::adopt(realtime::Descriptor fd) {
  struct stat status {};
  struct statfs system {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::fstatfs(fd.get(), &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return std::nullopt;
  return ProcessMemory(moved_up(std::move(fd)), status);
}

ProcessMemory::ProcessMemory(realtime::Descriptor fd, const struct stat& status)
    : fd_(std::move(fd)), device_(status.st_dev), inode_(status.st_ino) {}

ProcessMemory::~ProcessMemory() {
  (void)is_itself();  // or it is not ours to close
}

bool ProcessMemory::is_itself() {
  if (!fd_) return false;
  struct stat status {};
  if (::fstat(fd_.get(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
    return true;
  (void)fd_.release();
  return false;
}

std::uint64_t ProcessMemory::position() const {
  return static_cast<std::uint64_t>(::lseek(fd_.get(), 0, SEEK_CUR));
}

bool ProcessMemory::move_to(std::uint64_t position) {
  return is_itself() &&
         ::lseek(fd_.get(), static_cast<off_t>(position), SEEK_SET) == static_cast<off_t>(position);
}

bool ProcessMemory::write(std::span<const iovec> parts) const {
  const ssize_t done = parts.size() == 1
                           ? ::write(fd_.get(), parts[0].iov_base, parts[0].iov_len)
                           : ::writev(fd_.get(), parts.data(), static_cast<int>(parts.size()));
  return done >= 0 && static_cast<std::uint64_t>(done) == size_of(parts);
}

bool ProcessMemory::read(std::span<const iovec> parts, std::uint64_t address) {
  if (!is_itself()) return false;
  const ssize_t done = ::preadv(fd_.get(), parts.data(), static_cast<int>(parts.size()),
                                static_cast<off_t>(address));
  return done >= 0 && static_cast<std::uint64_t>(done) == size_of(parts);
}

}  // namespace anyrdma::transport::fabric
