#include "transport/fabric/rendezvous/registry_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "transport/realtime/file_limit.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::Result;

// Far behind the image, and at the same place in every version: processes of another version can
// be seen to live.
constexpr off_t kSlotLocks = off_t{1} << 40;
constexpr std::uint32_t kPortsAtOnce = 64;
constexpr std::uint64_t kHeadBytes = offsetof(RegistryImage, ports);
/// Names of a fabric's file: the first, and those for when somebody is stopped while he removes it.
constexpr unsigned kSpares = 4;
constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr int kAttempts = 1000;
/// Between a look and the next step the last member left.
const boost::system::error_code kGone = verbs::errno_code(ESTALE);
/// Somebody who is removing the file does not finish.
const boost::system::error_code kStuck = verbs::errno_code(EBUSY);

std::string file_name(const FabricConfig& config, unsigned spare) {
  return spare == 0 ? config.name : config.name + "~" + std::to_string(spare);
}

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

boost::system::error_code open_error(int error) {
  switch (error) {
    case ENOENT:
      return kGone;
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
      return FabricErrc::kNotWritable;
  }
}

/// Whatever its version; or one whose maker was killed before he wrote anything.
bool looks_like_registry(int fd) {
  constexpr int kVersionBits = 32;
  std::uint64_t magic = 0;
  const ssize_t got = ::pread(fd, &magic, sizeof magic, 0);
  return got == 0 || (got == sizeof magic &&
                      (magic == 0 || magic >> kVersionBits == kRegistryMagic >> kVersionBits));
}

bool try_lock(int fd, int kind) {
  int result = -1;
  do {
    result = ::flock(fd, kind | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Becomes one of the file's users. A process that is its only user is about to remove it.
boost::system::error_code share(int fd) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!try_lock(fd, LOCK_SH)) {
    if (errno == ENOLCK || errno == ENOMEM) return FabricErrc::kNoResources;
    if (errno != EWOULDBLOCK) return FabricErrc::kUnsuitable;
    if (std::chrono::steady_clock::now() > end) return kStuck;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

/// Makes the file as long as that, and has the memory promised that it does not have yet. Growing
/// past the limit of file sizes would raise a signal.
boost::system::error_code reserve(int fd, std::uint64_t so_far, std::uint64_t length) {
  if (!realtime::may_be_so_long(length)) return FabricErrc::kFileLimit;
  int result = -1;
  do {
    result = ::fallocate(fd, 0, static_cast<off_t>(so_far), static_cast<off_t>(length - so_far));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return {};
  return errno == ENOSPC || errno == EDQUOT ? FabricErrc::kNoSpace : FabricErrc::kUnsuitable;
}

/// Whether something in the place is wrong for this place alone.
bool concerns_place(const boost::system::error_code& error) {
  return error == FabricErrc::kNoSpace || error == FabricErrc::kNotWritable ||
         error == FabricErrc::kUnsuitable;
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

RegistryFile::RegistryFile(RegistryFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      directory_(std::move(other.directory_)),
      name_(std::move(other.name_)),
      image_(std::exchange(other.image_, nullptr)),
      known_size_(other.known_size_) {}

RegistryFile::~RegistryFile() {
  if (image_ != nullptr) ::munmap(image_, sizeof(RegistryImage));
}

Result<RegistryFile> RegistryFile::open(const FabricConfig& config) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<RegistryFile> found = join_others(config);
    if (found || found.error() != kGone) return found;
    Result<RegistryFile> made = join_or_make(config);
    if (made || made.error() != kGone) return made;
  }
  return FabricErrc::kNotWritable;
}

/// The file in any of the directories: a better one may exist since the search began. ESTALE: the
/// file has no user.
Result<RegistryFile> RegistryFile::join_others(const FabricConfig& config) {
  for (Place& place : Place::all(config)) {
    const auto directory = std::make_shared<const Place>(std::move(place));
    for (unsigned spare = 0; spare < kSpares; ++spare) {
      const std::string name = file_name(config, spare);
      const realtime::Descriptor fd(
          ::openat(directory->fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
      if (!fd || !held_by_another(fd.get(), 0, kSlotCount)) continue;
      Result<RegistryFile> file = enter(directory, name, config.uid);
      if (file || file.error() != kStuck) return file;
    }
  }
  return kGone;
}

Result<RegistryFile> RegistryFile::join_or_make(const FabricConfig& config) {
  boost::system::error_code why = FabricErrc::kNoDirectory;
  for (const std::string& parent : Place::parents(config)) {
    Result<Place> place = Place::make(parent, config);
    boost::system::error_code error = place ? kStuck : place.error();
    if (place) {
      const auto directory = std::make_shared<const Place>(std::move(*place));
      for (unsigned spare = 0; spare < kSpares && error == kStuck; ++spare) {
        Result<RegistryFile> file = enter(directory, file_name(config, spare), config.uid);
        if (file) return file;
        error = file.error();
      }
      if (!concerns_place(error)) return error == kStuck ? FabricErrc::kNotWritable : error;
      directory->remove_if_empty();
    }
    if (why == FabricErrc::kNoDirectory) why = error;
  }
  return why;
}

Result<RegistryFile> RegistryFile::enter(const std::shared_ptr<const Place>& directory,
                                         const std::string& name, uid_t uid) {
  realtime::Descriptor fd(::openat(directory->fd(), name.c_str(),
                                   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!fd) return open_error(errno);
  if (!is_ours_alone(fd.get(), S_IFREG, uid)) return FabricErrc::kNotOurs;
  if (const boost::system::error_code error = share(fd.get())) return error;
  RegistryFile file(std::move(fd), directory, name);
  if (!file.is_current()) return kGone;
  if (const Result<void> ready = file.prepare(); !ready) {
    file.leave();
    return ready.error();
  }
  return file;
}

bool RegistryFile::is_current() const {
  struct stat mine {};
  struct stat named {};
  return ::fstat(fd_.get(), &mine) == 0 &&
         ::fstatat(directory_->fd(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

std::uint64_t RegistryFile::size() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// Several may do this at once.
Result<void> RegistryFile::prepare() {
  known_size_ = size();
  if (known_size_ != 0 && known_size_ < kHeadBytes) return replace();
  if (known_size_ == 0) {
    // With some ports: where not even those have room, another place may have it.
    constexpr std::uint64_t kAtFirst = kHeadBytes + kPortsAtOnce * sizeof(PortRecord);
    if (const boost::system::error_code error = reserve(fd_.get(), 0, kAtFirst)) return error;
    known_size_ = kAtFirst;
  }
  // Whole, though the file is shorter: what lies behind its end is not touched.
  void* memory =
      ::mmap(nullptr, sizeof(RegistryImage), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return FabricErrc::kNoResources;
  image_ = static_cast<RegistryImage*>(memory);
  std::uint64_t magic = 0;
  if (image_->magic.compare_exchange_strong(magic, kRegistryMagic) || magic == kRegistryMagic)
    return {};
  return replace();
}

/// Another version's: removes it, unless it is in use. ESTALE: has done so.
Result<void> RegistryFile::replace() {
  if (!try_lock(fd_.get(), LOCK_EX) || held_by_another(fd_.get(), 0, kSlotCount))
    return FabricErrc::kOtherVersion;
  remove();
  return kGone;
}

/// The lock is exclusive: no process uses the file, or will.
void RegistryFile::remove() const {
  if (!is_current()) return;
  const std::string stem = socket_stem();
  for (const std::string& name : directory_->names())
    if (name.starts_with(stem)) (void)::unlinkat(directory_->fd(), name.c_str(), 0);
  (void)::unlinkat(directory_->fd(), name_.c_str(), 0);
}

void RegistryFile::leave() {
  if (try_lock(fd_.get(), LOCK_EX) && !held_by_another(fd_.get(), 0, kSlotCount)) {
    remove();
    directory_->remove_if_empty();
  }
  fd_.reset();
}

void RegistryFile::sweep() const {
  for (const std::string& name : directory_->names()) {
    if (name == name_ || name.starts_with('.')) continue;
    realtime::Descriptor fd(
        ::openat(directory_->fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!fd || !is_ours_alone(fd.get(), S_IFREG, ::geteuid()) || !looks_like_registry(fd.get()))
      continue;
    if (!try_lock(fd.get(), LOCK_EX) || held_by_another(fd.get(), 0, kSlotCount)) continue;
    RegistryFile(std::move(fd), directory_, name).remove();
  }
}

// --- slots --------------------------------------------------------------------------------------

std::uint64_t RegistryFile::place() const {
  struct stat status {};
  CM_ASSERT(::fstat(fd_.get(), &status) == 0);
  return status.st_ino;
}

std::string RegistryFile::socket_stem() const {
  // No fabric's name starts with a dot.
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), ".%llx-", static_cast<unsigned long long>(place()));
  return text.data();
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

void RegistryFile::remove_socket(Slot slot) const {
  const std::string name = socket_stem() + std::to_string(value(slot));
  (void)::unlinkat(directory_->fd(), name.c_str(), 0);
}

// --- ports --------------------------------------------------------------------------------------

PortRecord* RegistryFile::port(std::uint32_t index) {
  if (index >= kPortRecords) return nullptr;
  const std::uint64_t end = kHeadBytes + (index + std::uint64_t{1}) * sizeof(PortRecord);
  if (end > known_size_) known_size_ = size();
  return end <= known_size_ ? &image_->ports[index] : nullptr;
}

std::uint32_t RegistryFile::ports_backed() const {
  const std::uint64_t count = (std::max(size(), kHeadBytes) - kHeadBytes) / sizeof(PortRecord);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kPortRecords));
}

bool RegistryFile::reserve_ports(std::uint32_t count) {
  if (count == 0 || port(count - 1) != nullptr) return true;
  const std::uint64_t rounded =
      (std::uint64_t{count} + kPortsAtOnce - 1) / kPortsAtOnce * kPortsAtOnce;
  if (reserve(fd_.get(), known_size_, kHeadBytes + rounded * sizeof(PortRecord))) return false;
  known_size_ = size();
  return true;
}

}  // namespace anyrdma::transport::fabric
