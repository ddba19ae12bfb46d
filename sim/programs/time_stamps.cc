#include "sim/programs/time_stamps.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/instructions/time_stamp_sites.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {
namespace {

using instructions::TimeStampSite;
using transport::realtime::Descriptor;

/// What was found in files as they are: every trial maps the same ones.
class Files {
 public:
  /// They stay where they are.
  const std::vector<TimeStampSite>& sites(int fd, const struct stat& status) {
    const Key key{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec};
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, instructions::time_stamp_sites(fd)).first->second;
  }

 private:
  using Key = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::mutex mutex_;
  std::map<Key, std::vector<TimeStampSite>> known_;
};

Files& files() {
  static Files all;
  return all;
}

/// Over what the process itself may not write. False: it is not there.
bool overwrite(pid_t tid, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    const std::uint64_t word = address / sizeof(long) * sizeof(long);
    errno = 0;
    long value = ::ptrace(PTRACE_PEEKTEXT, tid, word, nullptr);
    if (errno != 0) return false;
    std::memcpy(reinterpret_cast<std::uint8_t*>(&value) + (address - word), &byte, sizeof byte);
    if (::ptrace(PTRACE_POKETEXT, tid, word, value) != 0) return false;
    ++address;
  }
  return true;
}

}  // namespace

std::set<std::string> TimeStamps::look(const tracee::Tracee& thread) {
  std::set<std::string> unreadable;
  const std::string own = "/proc/" + std::to_string(thread.tid());
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
    there.insert(mapping);
    if (seen_.contains(mapping)) continue;
    const std::string name = line.substr(static_cast<std::size_t>(path));
    replaced_.erase(replaced_.lower_bound(mapping.begin), replaced_.lower_bound(mapping.end));
    if (!replace(thread, mapping, own + "/root" + name)) unreadable.insert(name);
  }
  seen_ = std::move(there);
  return unreadable;
}

bool TimeStamps::replace(const tracee::Tracee& thread, const Mapping& mapping,
                         const std::string& path) {
  constexpr std::array<std::uint8_t, 3> kNoInstruction{0x0f, 0x0b, 0x90};  // UD2, and a NOP
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_ino != mapping.inode) return false;
  for (const TimeStampSite& site : files().sites(file.get(), status)) {
    if (site.offset < mapping.offset) continue;
    const std::uint64_t address = mapping.begin + (site.offset - mapping.offset);
    if (address + site.length > mapping.end) break;
    const auto bytes = std::span(kNoInstruction).first(site.length);
    if (!overwrite(thread.tid(), address, bytes)) return false;
    replaced_[address] = site.length;
  }
  return true;
}

std::optional<unsigned> TimeStamps::length_at(std::uint64_t address) const {
  const auto found = replaced_.find(address);
  if (found == replaced_.end()) return std::nullopt;
  return found->second;
}

}  // namespace anyrdma::sim::programs
