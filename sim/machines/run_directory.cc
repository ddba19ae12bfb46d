#include "sim/machines/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStem = "anyrdma-run.";

/// Files that live for milliseconds are made and removed faster where there is no disk.
fs::path parent_in(Storage storage) {
  const char* const wanted = std::getenv("TMPDIR");
  if (wanted != nullptr && *wanted != '\0') return wanted;
  if (storage == Storage::kDisk) return "/tmp";
  constexpr const char* kInMemory = "/dev/shm";
  return ::access(kInMemory, W_OK | X_OK) == 0 ? kInMemory : "/tmp";
}

/// The directory's descriptor with the only lock of it. -1: it is not this user's, is locked, or is
/// not there any more.
int lock(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat opened {};
  struct stat there {};
  // Whoever had the lock before may have removed the directory.
  const bool ours = ::fstat(fd, &opened) == 0 && opened.st_uid == ::geteuid() &&
                    ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                    there.st_ino == opened.st_ino;
  if (ours) return fd;
  ::close(fd);
  return -1;
}

void sweep(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(kStem)) continue;
    const int fd = lock(entry.path());
    if (fd < 0) continue;
    fs::remove_all(entry.path(), error);
    ::close(fd);
  }
}

}  // namespace

RunDirectory::RunDirectory(Storage storage) : maker_(::getpid()) {
  const fs::path parent = parent_in(storage);
  sweep(parent);
  // Before it is locked, the sweep of another process may take a new directory for an old one.
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts && lock_ < 0; ++i) {
    std::string name = parent / (std::string(kStem) + "XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) {
      error_ = errno;
      return;
    }
    lock_ = lock(name);
    if (lock_ >= 0) path_ = name;
  }
  if (lock_ < 0) error_ = EBUSY;
}

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (maker_ == ::getpid() && !path_.empty()) fs::remove_all(path_, error);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace anyrdma::sim
