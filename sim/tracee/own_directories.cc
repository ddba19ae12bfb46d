#include "sim/tracee/own_directories.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

constexpr unsigned long kOwnFlags = MS_NOSUID | MS_NODEV;
constexpr mode_t kForAll = 01777;
constexpr mode_t kForOwner = 0755;
constexpr const char* kTemporary = "/tmp";
constexpr const char* kSharedMemory = "/dev/shm";
constexpr const char* kRun = "/run";

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() + 1 && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

bool is_below_own(std::string_view path) {
  return is_below(path, kTemporary) || is_below(path, kSharedMemory) || is_below(path, kRun);
}

std::string path_of(const Descriptor& descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor.get());
}

/// With those above it, as far as they are missing.
void make_directory(const std::string& path, mode_t mode) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), kForOwner);
  if (::mkdir(path.c_str(), mode) == 0) ::chmod(path.c_str(), mode);
}

unsigned long files_in(int fd) {
  struct statfs system {};
  return ::fstatfs(fd, &system) == 0 ? system.f_files - system.f_ffree : 0;
}

}  // namespace

OwnDirectories::OwnDirectories(const CommonDirectories& common)
    : machines_(::open(kTemporary, O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  for (const auto& [source, target] : common) {
    if (source == target && !is_below_own(target)) continue;
    Descriptor directory(::open(source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (directory) bound_.push_back({std::move(directory), target});
  }
}

bool OwnDirectories::mount_empty(const char* path, mode_t mode) {
  if (::access(path, F_OK) != 0) return true;
  const char* const options =
      mode == kForAll ? "mode=1777,size=1g,nr_inodes=1m" : "mode=755,size=1g,nr_inodes=1m";
  if (::mount("tmpfs", path, "tmpfs", kOwnFlags, options) != 0) return false;
  mounted_.push_back(
      {.path = path, .mounts = 1, .top = Descriptor(::open(path, O_RDONLY | O_CLOEXEC))});
  return static_cast<bool>(mounted_.back().top);
}

/// The copies are in a file system that is mounted first, below the other.
bool OwnDirectories::mount_copied(const char* path) {
  if (!machines_) return true;
  if (::mount("tmpfs", path, "tmpfs", kOwnFlags, "mode=755,size=1g,nr_inodes=1m") != 0)
    return false;
  const std::string copies = std::string(path) + "/copies";
  const std::string work = std::string(path) + "/work";
  make_directory(copies, kForAll);
  make_directory(work, S_IRWXU);
  const std::string places =
      "lowerdir=" + path_of(machines_) + ",upperdir=" + copies + ",workdir=" + work + ",xino=off";
  Descriptor top(::open(copies.c_str(), O_RDONLY | O_CLOEXEC));
  // Attributes of the system's own are not for a user namespace, whose kernel knows the other kind.
  const bool done =
      ::mount("overlay", path, "overlay", kOwnFlags, places.c_str()) == 0 ||
      ::mount("overlay", path, "overlay", kOwnFlags, (places + ",userxattr").c_str()) == 0;
  if (!top || !done) {
    top.reset();
    ::umount2(path, MNT_DETACH);
    return false;
  }
  mounted_.push_back({.path = path, .mounts = 2, .top = std::move(top)});
  return true;
}

bool OwnDirectories::bind_common() {
  return std::ranges::all_of(bound_, [](const Bound& each) {
    if (is_below_own(each.target)) make_directory(each.target, kForOwner);
    return ::mount(path_of(each.source).c_str(), each.target.c_str(), nullptr, MS_BIND | MS_REC,
                   nullptr) == 0;
  });
}

/// The time of a directory tells of each name that comes or goes. One that the clock does not give
/// is the same in each run, too.
void OwnDirectories::note_states() {
  constexpr timespec kNever[2]{};
  for (Mounted& each : mounted_) {
    each.files = files_in(each.top.get());
    ::futimens(each.top.get(), kNever);
  }
}

bool OwnDirectories::is_as_mounted() const {
  return std::ranges::all_of(mounted_, [](const Mounted& each) {
    struct stat about {};
    return ::fstat(each.top.get(), &about) == 0 && about.st_mtim.tv_sec == 0 &&
           about.st_mtim.tv_nsec == 0 && files_in(each.top.get()) == each.files;
  });
}

bool OwnDirectories::mount() {
  // /dev/shm may be a link into /run, and where there is no /run there may be none of the others.
  bool all = mount_empty(kRun, kForOwner);
  all = mount_empty(kSharedMemory, kForAll) && all;
  all = mount_copied(kTemporary) && all;
  if (const char* const own = std::getenv("XDG_RUNTIME_DIR"); own != nullptr && is_below(own, kRun))
    make_directory(own, S_IRWXU);
  all = bind_common() && all;
  note_states();
  return all;
}

bool OwnDirectories::renew() {
  if (is_as_mounted()) return true;
  for (Mounted& each : mounted_) {
    each.top.reset();
    for (unsigned i = 0; i < each.mounts; ++i) ::umount2(each.path.c_str(), MNT_DETACH);
  }
  mounted_.clear();
  return mount();
}

}  // namespace anyrdma::sim::tracee
