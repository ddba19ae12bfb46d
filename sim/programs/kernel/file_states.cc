#include "sim/programs/kernel/file_states.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {
namespace {

using transport::realtime::Descriptor;

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

bool is_same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

timespec machines_time(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now;
}

/// When this process began, as times of files have it, which may be some milliseconds behind the
/// clock. What hosts see of this process's files is older than their sandbox.
const timespec kFirstMoment = machines_time(CLOCK_REALTIME_COARSE);

/// 0: the kernel has no such file.
dev_t device_of(const Descriptor& descriptor) {
  struct stat about {};
  return descriptor && ::fstat(descriptor.get(), &about) == 0 ? about.st_dev : 0;
}

dev_t device_of_pipes() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return 0;
  const Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  return device_of(from);
}

}  // namespace

FileStates::FileStates()
    : begin_(kFirstMoment),
      unnamed_{device_of_pipes(),
               device_of(Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))),
               device_of(Descriptor(::memfd_create("", MFD_CLOEXEC))),
               device_of(Descriptor(::eventfd(0, EFD_CLOEXEC))),
               device_of(Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))))} {
  struct stat about {};
  if (::stat("/proc/self/ns/net", &about) == 0) namespaces_ = about.st_dev;
}

void FileStates::note_own(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return;
  own_.emplace(about.st_dev, about.st_ino);
  if (!S_ISDIR(about.st_mode)) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    note_own(entry.path().string());
}

bool FileStates::may_be_proc(dev_t device) {
  return major(device) == 0;
}

/// A program may set times to those of its own clock, or to later ones.
bool FileStates::is_of_run(const timespec& time) const {
  return !is_before(time, begin_) && !is_before(machines_time(CLOCK_REALTIME), time);
}

void FileStates::tell_times(FileState& state, Known& known, bool is_new, timespec now) const {
  const bool steady = !S_ISREG(state.mode) && !S_ISDIR(state.mode);
  const bool resized = known.size != state.size;
  const auto update = [&](const timespec& time, timespec& before, timespec& shown) {
    if (is_new || (!steady && (resized || !is_same(time, before))))
      shown = is_of_run(time) ? now : time;
    before = time;
  };
  update(state.modification, known.modification, known.shown_modification);
  update(state.change, known.change, known.shown_change);
  if (is_new) known.first = now;
  known.size = state.size;
  const bool is_set = is_of_run(state.change) && !is_of_run(state.access);
  if (!is_set) state.access = known.shown_modification;
  state.modification = known.shown_modification;
  state.change = known.shown_change;
  if (is_of_run(state.birth)) state.birth = known.first;
}

FileStates::Left FileStates::tell(FileState& state, dev_t proc, timespec now, Numbers& numbers) {
  constexpr std::int64_t kBlock = 4096;  // of usual disks
  constexpr std::int64_t kUnit = 512;
  const bool of_proc = proc != 0 && state.device == proc;
  const bool unnamed = std::ranges::find(unnamed_, state.device) != std::end(unnamed_);
  const bool on_disk = major(state.device) != 0;
  const std::pair key{state.device, state.inode};
  const auto [place, is_new] = known_.try_emplace(key);
  Known& known = place->second;
  Left left;
  if (of_proc || (unnamed && !is_of_run(state.change))) {
    // The time at which the kernel has made it, which may be that of its boot.
    state.access = state.modification = state.change = state.birth = {};
  } else {
    left.times = !is_of_run(state.modification) || !is_of_run(state.change);
    tell_times(state, known, is_new, now);
  }
  if (of_proc && S_ISDIR(state.mode)) state.links = 1;
  if (on_disk && S_ISREG(state.mode) && is_of_run(known.change))
    state.blocks = (state.size + kBlock - 1) / kBlock * (kBlock / kUnit);
  if (namespaces_ != 0 && state.device == namespaces_)
    state.inode = numbers.of(Numbers::Kind::kNamespace, state.inode);
  else if (unnamed || of_proc || own_.contains(key))
    state.inode = numbers.of(Numbers::Kind::kInode, state.inode);
  else
    left.numbers = on_disk;
  if (!on_disk) {
    const auto number = numbers.of(Numbers::Kind::kDevice, minor(state.device));
    state.device = makedev(0, static_cast<unsigned>(number));
  }
  return left;
}

}  // namespace anyrdma::sim::programs
