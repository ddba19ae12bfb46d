#include "sim/programs/syscalls/stat_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/file_states.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/machine_facts.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/programs/syscalls/system_calls.h"

namespace anyrdma::sim::programs {
namespace {

/// The device of the /proc that the thread's program sees; 0: it sees none.
dev_t proc_of(const Thread& thread, dev_t device) {
  struct stat about {};
  if (!FileStates::may_be_proc(device)) return 0;
  const std::string path = "/proc/" + std::to_string(thread.process().pid) + "/root/proc";
  return ::stat(path.c_str(), &about) == 0 ? about.st_dev : 0;
}

/// Whether the dynamic loader makes the call, which asks whether it has loaded a file already.
bool is_of_loader(Thread& thread) {
  const auto registers = thread.tracee().registers();
  std::ifstream maps("/proc/" + std::to_string(thread.process().pid) + "/maps");
  for (std::string line; registers && std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx", &begin, &end) != 2) return false;
    if (registers->rip < begin || registers->rip >= end) continue;
    return line.find("/ld-") != std::string::npos;
  }
  return false;
}

void note(Thread& thread, const Call& call, const FileStates::Left& left) {
  FactsAsked& facts = thread.supervisor().kernel().facts;
  const std::string program = program_of(thread.process());
  const bool times = left.times && facts.is_new(program, Fact::kFileTimes);
  const bool numbers = left.numbers && facts.is_new(program, Fact::kFileNumbers);
  if ((!times && !numbers) || is_of_loader(thread)) return;
  const std::string name = name_of_call(call.number);
  if (times) facts.note(program, Fact::kFileTimes, name);
  if (numbers) facts.note(program, Fact::kFileNumbers, name);
}

void tell(Thread& thread, const Call& call, FileState& state) {
  const timespec now = timespec_of(reading_of(thread, CLOCK_REALTIME).value_or(Duration{}));
  Kernel& kernel = thread.supervisor().kernel();
  note(thread, call, kernel.files.tell(state, proc_of(thread, state.device), now, kernel.numbers));
}

timespec time_of(const statx_timestamp& time) {
  return {.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec};
}

void set(statx_timestamp& time, const timespec& value) {
  time.tv_sec = value.tv_sec;
  time.tv_nsec = static_cast<std::uint32_t>(value.tv_nsec);
}

/// The file that the call asks for by its descriptor alone, as fstat(3) does; empty: by a path.
Descriptor file_of(Thread& thread, const Call& call) {
  const bool by_number = call.number == SYS_fstat;
  const bool by_empty_path = call.number == SYS_newfstatat && call.arguments[3] == AT_EMPTY_PATH &&
                             thread.tracee().peek<char>(call.arguments[1]) == '\0';
  return by_number || by_empty_path ? thread.borrow(static_cast<int>(call.arguments[0]))
                                    : Descriptor();
}

/// As the program will see it.
void tell(Thread& thread, const Call& call, struct stat& about) {
  FileState state{.device = about.st_dev,
                  .inode = about.st_ino,
                  .mode = about.st_mode,
                  .links = about.st_nlink,
                  .size = about.st_size,
                  .blocks = about.st_blocks,
                  .access = about.st_atim,
                  .modification = about.st_mtim,
                  .change = about.st_ctim,
                  .birth = {}};
  tell(thread, call, state);
  about.st_dev = state.device;
  about.st_ino = state.inode;
  about.st_nlink = state.links;
  about.st_blocks = state.blocks;
  about.st_atim = state.access;
  about.st_mtim = state.modification;
  about.st_ctim = state.change;
}

}  // namespace

/// Programs ask most often by descriptors, while they are loaded: the supervisor answers that
/// itself, which costs one stop less.
Outcome on_stat(Thread& thread, const Call& call) {
  const std::uint64_t at = call.arguments[call.number == SYS_newfstatat ? 2 : 1];
  struct stat own {};
  const Descriptor file = file_of(thread, call);
  if (file && ::fstat(file.get(), &own) == 0) {
    tell(thread, call, own);
    return Outcome::answered(thread.tracee().poke(at, own) ? 0 : -EFAULT);
  }
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  auto about = *result == 0 ? thread.tracee().peek<struct stat>(at) : std::nullopt;
  if (!about) return Outcome::made();
  tell(thread, call, *about);
  (void)thread.tracee().poke(at, *about);
  return Outcome::made();
}

/// What the caller has not asked for is not there.
Outcome on_statx(Thread& thread, const Call& call) {
  constexpr unsigned kOtherMount = 0x4000;  // STATX_MNT_ID_UNIQUE
  const std::uint64_t at = call.arguments[4];
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  auto about = *result == 0 ? thread.tracee().peek<struct statx>(at) : std::nullopt;
  if (!about) return Outcome::made();
  FileState state{.device = makedev(about->stx_dev_major, about->stx_dev_minor),
                  .inode = about->stx_ino,
                  .mode = about->stx_mode,
                  .links = about->stx_nlink,
                  .size = static_cast<std::int64_t>(about->stx_size),
                  .blocks = static_cast<std::int64_t>(about->stx_blocks),
                  .access = time_of(about->stx_atime),
                  .modification = time_of(about->stx_mtime),
                  .change = time_of(about->stx_ctime),
                  .birth = time_of(about->stx_btime)};
  tell(thread, call, state);
  about->stx_dev_major = major(state.device);
  about->stx_dev_minor = minor(state.device);
  about->stx_ino = state.inode;
  about->stx_nlink = static_cast<std::uint32_t>(state.links);
  about->stx_blocks = static_cast<std::uint64_t>(state.blocks);
  set(about->stx_atime, state.access);
  set(about->stx_mtime, state.modification);
  set(about->stx_ctime, state.change);
  set(about->stx_btime, state.birth);
  if ((about->stx_mask & (STATX_MNT_ID | kOtherMount)) != 0)
    about->stx_mnt_id =
        thread.supervisor().kernel().numbers.of(Numbers::Kind::kMount, about->stx_mnt_id);
  (void)thread.tracee().poke(at, *about);
  return Outcome::made();
}

Outcome on_mincore(Thread& thread, const Call& call) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kPiece = 1 << 16;
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  const std::uint64_t pages = (call.arguments[1] + kPage - 1) / kPage;
  const std::vector<std::byte> present(std::min(pages, kPiece), std::byte{1});
  for (std::uint64_t done = 0; *result == 0 && done < pages; done += kPiece) {
    const auto piece = std::span(present).first(std::min(pages - done, kPiece));
    if (!thread.tracee().write(call.arguments[2] + done, piece)) break;
  }
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
