#include "transport/fabric/registry_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::Result;

// Far behind the image, and at the same place in every version: processes of another version can
// be seen to live.
constexpr off_t kSlotLocks = off_t{1} << 40;
constexpr std::uint32_t kPortsAtOnce = 256;

struct flock slot_range(std::uint32_t first, std::uint32_t count) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = kSlotLocks + first;
  range.l_len = count;
  return range;
}

bool held_by_another(int fd, std::uint32_t first, std::uint32_t count) {
  struct flock range = slot_range(first, count);
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/// The kernel protects files in sticky directories and answers EACCES for another user's.
bool is_somebody_elses(const std::string& path, uid_t uid) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && (status.st_uid != uid || !S_ISREG(status.st_mode));
}

FabricErrc open_error(int error, const std::string& path, uid_t uid) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return FabricErrc::kNoDirectory;
    case ELOOP:
    case EISDIR:
    case ENXIO:
      return FabricErrc::kNotOurs;
    case ENOSPC:
    case EDQUOT:
      return FabricErrc::kNoSpace;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return FabricErrc::kNoResources;
    default:
      return is_somebody_elses(path, uid) ? FabricErrc::kNotOurs : FabricErrc::kNotWritable;
  }
}

/// Whatever its version; a file of that name by chance is not.
bool looks_like_registry(int fd) {
  constexpr int kVersionBits = 32;
  std::uint64_t magic = 0;
  return ::pread(fd, &magic, sizeof magic, 0) == sizeof magic &&
         magic >> kVersionBits == kRegistryMagic >> kVersionBits;
}

bool is_ours_alone(int fd, uid_t uid) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid &&
         (status.st_mode & 077) == 0;
}

bool reserve(int fd, off_t offset, off_t length) {
  int result = -1;
  do {
    result = ::fallocate(fd, 0, offset, length);
  } while (result != 0 && errno == EINTR);
  // Where the file system cannot promise, a full one shows later, as SIGBUS: tmpfs can.
  return result == 0 || errno == EOPNOTSUPP;
}

}  // namespace

RegistryFile::RegistryFile(RegistryFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      image_(std::exchange(other.image_, nullptr)) {}

RegistryFile::~RegistryFile() {
  if (image_ != nullptr) ::munmap(image_, sizeof(RegistryImage));
}

Result<RegistryFile> RegistryFile::open(const FabricConfig& config) {
  const std::string path = registry_path(config);
  while (true) {
    realtime::Descriptor fd(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    if (!fd) return open_error(errno, path, config.uid);
    if (!is_ours_alone(fd.get(), config.uid)) return FabricErrc::kNotOurs;
    RegistryFile file(std::move(fd), path);
    file.lock();
    if (!file.is_current()) continue;  // the last user removed it while we waited
    if (Result<void> ready = file.prepare(); !ready) return ready.error();
    return file;
  }
}

bool RegistryFile::is_current() const {
  struct stat mine {};
  struct stat named {};
  return ::fstat(fd_.get(), &mine) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

std::uint64_t RegistryFile::place() const {
  struct stat status {};
  CM_ASSERT(::fstat(fd_.get(), &status) == 0);
  return status.st_ino;
}

Result<void> RegistryFile::prepare() {
  constexpr off_t kSize = sizeof(RegistryImage);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return FabricErrc::kNoResources;
  const bool alive = anybody_there();
  if (status.st_size != kSize) {
    if (alive) return FabricErrc::kOtherVersion;
    if (::ftruncate(fd_.get(), 0) != 0 || ::ftruncate(fd_.get(), kSize) != 0)
      return FabricErrc::kNoSpace;
  }
  if (!reserve(fd_.get(), 0, offsetof(RegistryImage, ports))) return FabricErrc::kNoSpace;
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return FabricErrc::kNoResources;
  image_ = static_cast<RegistryImage*>(memory);
  if (image_->magic.load() == kRegistryMagic) return {};
  if (alive) return FabricErrc::kOtherVersion;
  // New, or a leftover of another version. Ports behind ports_ready have no memory: untouched.
  std::fill_n(static_cast<std::uint8_t*>(memory), offsetof(RegistryImage, ports), std::uint8_t{0});
  image_->magic.store(kRegistryMagic);
  return {};
}

bool RegistryFile::anybody_there() const {
  return held_by_another(fd_.get(), 0, kSlotCount);
}

void RegistryFile::lock() {
  while (::flock(fd_.get(), LOCK_EX) != 0) CM_ASSERT(errno == EINTR);
}

void RegistryFile::unlock() {
  CM_ASSERT(::flock(fd_.get(), LOCK_UN) == 0);
}

bool RegistryFile::take(Slot slot) {
  struct flock range = slot_range(value(slot), 1);
  return ::fcntl(fd_.get(), F_OFD_SETLK, &range) == 0;
}

void RegistryFile::give_up(Slot slot) {
  struct flock range = slot_range(value(slot), 1);
  range.l_type = F_UNLCK;
  CM_ASSERT(::fcntl(fd_.get(), F_OFD_SETLK, &range) == 0);
}

bool RegistryFile::taken(Slot slot) const {
  return held_by_another(fd_.get(), value(slot), 1);
}

bool RegistryFile::reserve_ports(std::uint32_t count) {
  if (count <= image_->ports_ready) return true;
  const std::uint32_t rounded = (count + kPortsAtOnce - 1) / kPortsAtOnce * kPortsAtOnce;
  const auto offset = static_cast<off_t>(offsetof(RegistryImage, ports));
  const auto length = static_cast<off_t>(rounded * sizeof(PortRecord));
  if (!reserve(fd_.get(), offset, length)) return false;
  image_->ports_ready = rounded;
  return true;
}

void RegistryFile::sweep(const FabricConfig& config) {
  const std::string mine = registry_path(config);
  const std::string family = mine.substr(0, mine.size() - config.name.size());
  std::error_code error;
  std::filesystem::directory_iterator entry(config.directory, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path == mine || !path.starts_with(family)) continue;
    realtime::Descriptor fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!fd || !is_ours_alone(fd.get(), config.uid) || !looks_like_registry(fd.get())) continue;
    // Busy means used. An opener who waits for our lock finds that the name has gone, and opens
    // anew.
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    RegistryFile file(std::move(fd), path);
    if (!file.anybody_there()) file.remove();
  }
}

void RegistryFile::remove() {
  if (is_current()) ::unlink(path_.c_str());
}

}  // namespace anyrdma::transport::fabric
