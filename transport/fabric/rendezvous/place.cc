#include "transport/fabric/rendezvous/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace anyrdma::transport::fabric {
namespace {

using verbs::Result;

/// A stranger who takes so many names in all places keeps us out, and is named in the error.
constexpr unsigned kNamesMax = 1024;
/// Where only this user makes names, ours comes behind fewer that are missing.
constexpr unsigned kMissingMax = 16;

std::string name_of(uid_t uid, unsigned number) {
  const std::string first = "anyrdma-" + std::to_string(uid);
  return number == 0 ? first : first + "." + std::to_string(number);
}

/// Where the system keeps what a user's processes need while they run. It comes with the first
/// login and goes with the last.
std::string runtime_directory(uid_t uid) {
  return "/run/user/" + std::to_string(uid);
}

/// Whether other users may make names there: root aside.
bool is_shared(int directory, uid_t uid) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return true;
  return (status.st_mode & 022) != 0 || (status.st_uid != uid && status.st_uid != 0);
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> all;
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return all;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again), ::closedir);
  if (!list) {
    ::close(again);
    return all;
  }
  while (const dirent* const entry = ::readdir(list.get())) all.emplace_back(entry->d_name);
  return all;
}

/// The numbers of names at which ours may be, ascending. Other users may take any names, and give
/// them back when ours has come behind them: what counts is which are there.
std::vector<unsigned> numbers_in(int directory, uid_t uid) {
  const std::vector<std::string> names = names_in(directory);
  const std::set<std::string_view> there(names.begin(), names.end());
  std::vector<unsigned> numbers;
  for (unsigned i = 0; i < kNamesMax; ++i)
    if (names.empty() || there.contains(name_of(uid, i))) numbers.push_back(i);
  return numbers;
}

Result<realtime::Descriptor> open_parent(const std::string& path) {
  realtime::Descriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  if (errno == ENOENT || errno == ENOTDIR) return FabricErrc::kNoDirectory;
  return errno == EACCES ? FabricErrc::kNotWritable : FabricErrc::kNoResources;
}

FabricErrc making_error(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return FabricErrc::kNoSpace;
    case ENOMEM:
      return FabricErrc::kNoResources;
    default:
      return FabricErrc::kNotWritable;
  }
}

}  // namespace

bool is_ours_alone(int fd, mode_t type, uid_t uid) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type && status.st_uid == uid &&
         (status.st_mode & 077) == 0;
}

struct Place::Opened {
  std::optional<Place> place{};  ///< nothing: missing, or a stranger's
  bool missing = false;
  bool out_of_descriptors = false;
};

Place::Opened Place::open(int parent, const std::string& path, const std::string& name, uid_t uid) {
  realtime::Descriptor fd(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return {.missing = errno == ENOENT, .out_of_descriptors = exhausted};
  }
  if (!is_ours_alone(fd.get(), S_IFDIR, uid)) return {};
  return {.place = Place(std::move(fd), path + "/" + name)};
}

std::vector<std::string> Place::parents(const FabricConfig& config) {
  if (!config.directory.empty()) return {config.directory};
  std::vector<std::string> all;
  const std::string own = runtime_directory(config.uid);
  const Result<realtime::Descriptor> fd = open_parent(own);
  if (fd && is_ours_alone(fd->get(), S_IFDIR, config.uid)) all.push_back(own);
  all.emplace_back("/dev/shm");
  all.emplace_back("/tmp");
  return all;
}

std::vector<Place> Place::all(const FabricConfig& config) {
  std::vector<Place> found;
  for (const std::string& path : parents(config)) {
    const Result<realtime::Descriptor> parent = open_parent(path);
    if (!parent) continue;
    const auto open_number = [&](unsigned number) {
      Opened opened = open(parent->get(), path, name_of(config.uid, number), config.uid);
      if (opened.place) found.push_back(std::move(*opened.place));
      return !opened.missing;
    };
    if (is_shared(parent->get(), config.uid)) {
      for (const unsigned number : numbers_in(parent->get(), config.uid)) (void)open_number(number);
      continue;
    }
    unsigned missing = 0;
    for (unsigned i = 0; i < kNamesMax && missing < kMissingMax; ++i)
      missing = open_number(i) ? 0 : missing + 1;
  }
  return found;
}

Result<Place> Place::make(const std::string& path, const FabricConfig& config) {
  const Result<realtime::Descriptor> parent = open_parent(path);
  if (!parent) return parent.error();
  for (unsigned i = 0, tries = 0; i < kNamesMax && tries < 2 * kNamesMax; ++tries) {
    const std::string name = name_of(config.uid, i);
    if (::mkdirat(parent->get(), name.c_str(), 0700) == 0) {
      // A mask may have left less to the user himself.
      if (::fchmodat(parent->get(), name.c_str(), 0700, 0) != 0 && errno != ENOENT)
        return making_error(errno);
    } else if (errno != EEXIST) {
      return making_error(errno);
    }
    Opened opened = open(parent->get(), path, name, config.uid);
    if (opened.place) return std::move(*opened.place);
    if (opened.out_of_descriptors) return FabricErrc::kNoResources;
    if (!opened.missing) ++i;  // else another process has left and removed it: again
  }
  return FabricErrc::kNamesTaken;
}

std::vector<std::string> Place::names() const {
  return names_in(fd_.get());
}

void Place::remove_if_empty() const {
  struct stat mine {};
  struct stat named {};
  if (::fstat(fd_.get(), &mine) != 0 || ::lstat(path_.c_str(), &named) != 0) return;
  if (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) (void)::rmdir(path_.c_str());
}

}  // namespace anyrdma::transport::fabric
