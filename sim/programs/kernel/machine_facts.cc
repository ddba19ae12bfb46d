#include "sim/programs/kernel/machine_facts.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace anyrdma::sim::programs {
namespace {

constexpr std::array<std::string_view, 1> kProcessorFiles{"cpuinfo"};
constexpr std::array<int, 2> kEntryCalls{SYS_getdents, SYS_getdents64};
constexpr std::array<std::string_view, 3> kFileSystemFiles{"PID/mounts", "PID/mountinfo",
                                                           "PID/mountstats"};
constexpr std::array<std::string_view, 3> kAddressFiles{"PID/stat", "PID/maps", "PID/smaps"};
constexpr std::array<std::string_view, 1> kInheritedFiles{"PID/coredump_filter"};
constexpr std::array<int, 8> kUserCalls{SYS_getuid,    SYS_geteuid,   SYS_getgid,    SYS_getegid,
                                        SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_capget};
constexpr std::array<std::string_view, 1> kUserFiles{"PID/status"};
constexpr std::array<int, 2> kLimitCalls{SYS_getrlimit, SYS_prlimit64};
constexpr std::array<std::string_view, 1> kLimitFiles{"PID/limits"};

constexpr auto kFacts = std::to_array<MachineFact>({
    {Fact::kProcessor,
     "model and features of the CPU",
     "CPUID, AT_HWCAP, AT_HWCAP2, XGETBV, `/proc/cpuinfo`",
     "CPUID outside of `ld.so`, `libc`, `libgcc_s` and `libstdc++`; a read of the file",
     {},
     kProcessorFiles},
    {Fact::kProcessorNumber,
     "the number of the CPU",
     "LSL of the CPU segment; RDPID, RDTSCP and CPUID in generated code; CPUID in `ld.so`, `libc`, "
     "`libgcc_s` and `libstdc++`",
     "",
     {},
     {}},
    {Fact::kDescriptorTables,
     "addresses of the kernel's descriptor tables",
     "SGDT, SIDT",
     "",
     {},
     {}},
    {Fact::kFileTimes,
     "times of files that are older than the run",
     "`stat`, `statx`",
     "the call, if the program's loader does not make it",
     {},
     {}},
    {Fact::kQuickChange,
     "a change of a file within 4 ms of real time after a `stat`, if its size stays the same "
     "(kernels before 6.13)",
     "`stat`, `statx`",
     "",
     {},
     {}},
    {Fact::kFileNumbers,
     "inode numbers of files outside of `/tmp`, `/dev/shm` and `/run`, also of new ones; device "
     "numbers of disks",
     "`stat`, `statx`",
     "the call, if the program's loader does not make it",
     {},
     {}},
    {Fact::kEntries,
     "inode numbers of entries; their order in `/proc` and in FUSE file systems; which entries "
     "`/dev`, `/sys` and `/proc` have",
     "`getdents`",
     "the call",
     kEntryCalls,
     {}},
    {Fact::kFileSystems,
     "number and sizes of the machine's file systems",
     "`/proc/mounts`, `/proc/self/mountinfo`, `/proc/self/mountstats`",
     "a read of the file",
     {},
     kFileSystemFiles},
    {Fact::kOffset,
     "files below `/proc/PID`, and `/dev/urandom`, that `pread` does not read from their beginning",
     "`pread` with another offset than 0",
     "",
     {},
     {}},
    {Fact::kMappedNumbers,
     "numbers of objects without a disk, after a look at `/proc/PID/maps` of a program whose files "
     "are on an overlay, NFS or another file system without a disk",
     "`stat`, `statx`, `/proc/PID/fd`",
     "",
     {},
     {}},
    {Fact::kAddresses,
     "addresses of the stack and of mappings, which depend on the kernel and on the environment",
     "`/proc/self/maps`, `/proc/self/smaps`, `/proc/self/stat`",
     "a read of the file",
     {},
     kAddressFiles},
    {Fact::kInterfaces,
     "interfaces, where the kernel cannot make those of the host",
     "`/sys/class/net`, `/proc/net`",
     "",
     {},
     {}},
    {Fact::kDirectoryOfRun,
     "the directory of the run",
     "ANYRDMA_DIR and other variables of anyrdma; `/proc/mounts`",
     "",
     {},
     {}},
    {Fact::kDescriptors,
     "descriptors and the core dump filter that the command inherits",
     "`/proc/self/fd`, each call on a descriptor, `/proc/self/coredump_filter`",
     "a read of the last file",
     {},
     kInheritedFiles},
    {Fact::kUser, "the user and the capabilities of the command", "`getuid`, `/proc/self/status`",
     "the call, or a read of the file", kUserCalls, kUserFiles},
    {Fact::kLimits,
     "the limits of the command, except those of processes, pending signals, POSIX queues and open "
     "files; the latter if it is below 524288",
     "`getrlimit`, `/proc/self/limits`", "the call, or a read of the file", kLimitCalls,
     kLimitFiles},
});

static_assert(
    [] {
      for (std::size_t i = 0; i < kFacts.size(); ++i) {
        if (kFacts[i].fact != static_cast<Fact>(i)) return false;
      }
      return true;
    }(),
    "a row for each fact, in their order");

constexpr std::string_view kProc = "/proc/";

/// "17/fdinfo/3", relative to /proc, as the table has it: "PID/fdinfo". "cpuinfo" is as it is.
std::string name_in_table(std::string_view path) {
  const std::size_t digits = std::min(path.find_first_not_of("0123456789"), path.size());
  if (digits == 0 || path.substr(digits, 1) != "/") return std::string(path);
  path.remove_prefix(digits + 1);
  // Of a thread: 17/task/18/status.
  constexpr std::string_view kTask = "task/";
  const std::size_t thread = path.starts_with(kTask) ? path.find('/', kTask.size()) : path.npos;
  if (thread != path.npos) path.remove_prefix(thread + 1);
  return "PID/" + std::string(path.substr(0, path.find('/')));
}

}  // namespace

std::span<const MachineFact> machine_facts() {
  return kFacts;
}

bool asks_for_fact(long number) {
  constexpr std::size_t kNumbers = 512;
  static constexpr auto kAsks = [] {
    std::array<bool, kNumbers> asks{};
    for (const MachineFact& each : kFacts) {
      for (const int call : each.calls) asks[static_cast<std::size_t>(call)] = true;
    }
    return asks;
  }();
  return number >= 0 && number < static_cast<long>(kNumbers) &&
         kAsks[static_cast<std::size_t>(number)];
}

bool FactsAsked::is_new(std::string_view program, Fact fact) const {
  return are_named() && !named_.contains(std::pair(std::string(program), fact));
}

void FactsAsked::note(std::string_view program, Fact fact, std::string_view how) {
  if (!are_named() || !named_.emplace(program, fact).second) return;
  on_fact_(std::string(program) + " asks for what differs between machines: " +
           std::string(kFacts[static_cast<std::size_t>(fact)].what) + " (" + std::string(how) +
           "). See docs/limits.md.");
}

void FactsAsked::note_call(std::string_view program, long number, std::string_view name) {
  for (const MachineFact& each : kFacts) {
    if (std::ranges::find(each.calls, number) != each.calls.end()) note(program, each.fact, name);
  }
}

void FactsAsked::note_file(std::string_view program, std::string_view path) {
  if (path.starts_with(kProc)) path.remove_prefix(kProc.size());
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string name = name_in_table(path);
  const std::string how = std::string(kProc) + std::string(path);
  for (const MachineFact& each : kFacts) {
    if (std::ranges::find(each.files, name) != each.files.end()) note(program, each.fact, how);
  }
}

}  // namespace anyrdma::sim::programs
