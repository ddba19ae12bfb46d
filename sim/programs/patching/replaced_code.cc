#include "sim/programs/patching/replaced_code.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace anyrdma::sim::programs {
namespace {

using instructions::Site;
using transport::realtime::Descriptor;

/// What was found in files as they are: every trial maps the same ones.
class Files {
 public:
  /// They stay where they are.
  const std::vector<Site>& sites(int fd) {
    static const std::vector<Site> none;
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return none;
    const Key key{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec};
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    auto sites = instructions::sites_in(fd);
    if (asks_for_features(fd)) std::erase_if(sites, asks_for_identity);
    return known_.emplace(key, std::move(sites)).first->second;
  }

 private:
  /// Each program has these, and they ask some fifty times for what a processor can do, which is
  /// no reason to stop it.
  static bool asks_for_features(int fd) {
    constexpr std::array<std::string_view, 4> kNames{"ld-linux", "libc.so", "libgcc_s.so",
                                                     "libstdc++.so"};
    std::array<char, PATH_MAX> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    const std::string_view name(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return std::ranges::any_of(kNames, [&](std::string_view each) {
      return name.substr(name.rfind('/') + 1).starts_with(each);
    });
  }
  static bool asks_for_identity(const Site& site) { return site.kind == Site::Kind::kIdentity; }

  using Key = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::mutex mutex_;
  std::map<Key, std::vector<Site>> known_;
};

Files& files() {
  static Files all;
  return all;
}

/// Over what the process itself may not write, word by word. False: it is not there.
bool overwrite(pid_t tid, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t before = address % sizeof(long);
    const auto size = std::min<std::size_t>(bytes.size(), sizeof(long) - before);
    errno = 0;
    long word = ::ptrace(PTRACE_PEEKTEXT, tid, address - before, nullptr);
    if (errno != 0) return false;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&word) + before, bytes.data(), size);
    if (::ptrace(PTRACE_POKETEXT, tid, address - before, word) != 0) return false;
    address += size;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace

bool ReplacedCode::is_wanted(const Site& site) const {
  return site.kind != Site::Kind::kTimeStamp || which_ == Replaced::kChanceAndTime;
}

bool ReplacedCode::wants(const Descriptor& file) const {
  return std::ranges::any_of(files().sites(file.get()),
                             [this](const Site& site) { return is_wanted(site); });
}

bool ReplacedCode::replace(const tracee::Tracee& thread, const Mapping& mapping,
                           const Descriptor& file) {
  constexpr std::uint8_t kNop = 0x90;
  replaced_.erase(replaced_.lower_bound(mapping.begin), replaced_.lower_bound(mapping.end));
  for (const Site& site : files().sites(file.get())) {
    if (!is_wanted(site) || site.offset < mapping.offset) continue;
    const std::uint64_t address = mapping.begin + (site.offset - mapping.offset);
    if (address + site.length > mapping.end) break;
    std::vector<std::uint8_t> bytes(site.length, kNop);
    bytes[0] = 0x0f;  // UD2
    bytes[1] = 0x0b;
    if (mapping.shared || !overwrite(thread.tid(), address, bytes)) return false;
    replaced_[address] = site;
  }
  return true;
}

/// In a chroot, /proc/PID/maps has paths from the root of the mount namespace, which lies outside.
std::set<std::string> ReplacedCode::look(const tracee::Tracee& thread) {
  std::set<std::string> unreadable;
  const std::string own = "/proc/" + std::to_string(thread.tid());
  std::error_code unknown;
  const std::string root = std::filesystem::read_symlink(own + "/root", unknown);
  std::ifstream maps(own + "/maps");
  std::set<Mapping> there;
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    std::array<char, 5> rights{};
    unsigned major_number = 0;
    unsigned minor_number = 0;
    int path = 0;
    const int fields =
        std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
                    &mapping.begin, &mapping.end, rights.data(), &mapping.offset, &major_number,
                    &minor_number, &mapping.inode, &path);
    if (fields != 7 || rights[2] != 'x' || mapping.inode == 0) continue;
    mapping.device = makedev(major_number, minor_number);
    mapping.shared = rights[3] != 'p';
    there.insert(mapping);
    if (seen_.contains(mapping)) continue;
    std::string name = line.substr(static_cast<std::size_t>(path));
    if (name.starts_with(root + "/")) name.erase(0, root.size());
    const Descriptor file(
        ::open((own + "/root" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || status.st_ino != mapping.inode ||
        !replace(thread, mapping, file))
      unreadable.insert(name);
  }
  seen_ = std::move(there);
  return unreadable;
}

std::optional<Site> ReplacedCode::at(std::uint64_t address) const {
  const auto found = replaced_.find(address);
  if (found == replaced_.end()) return std::nullopt;
  return found->second;
}

}  // namespace anyrdma::sim::programs
