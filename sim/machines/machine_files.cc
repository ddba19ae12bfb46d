#include "sim/machines/machine_files.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

namespace anyrdma::sim {
namespace {

/// The time stamp counter counts nanoseconds (sim/programs/process/thread.cc).
constexpr std::string_view kMegahertz = "1000.000";

std::string_view trimmed(std::string_view text) {
  const auto end = text.find_last_not_of(" \t");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// The first processor's lines, for each.
std::string cpuinfo_of(std::string_view machine, unsigned processors) {
  const std::string_view first = machine.substr(0, machine.find("\n\n"));
  std::string text;
  for (unsigned processor = 0; processor < processors; ++processor) {
    const std::string number = std::to_string(processor);
    const std::string all = std::to_string(processors);
    const std::map<std::string_view, std::string, std::less<>> ours{
        {"processor", number},      {"core id", number},
        {"apicid", number},         {"physical id", "0"},
        {"initial apicid", number}, {"siblings", all},
        {"cpu cores", all},         {"cpu MHz", std::string(kMegahertz)},
        {"bogomips", "2000.00"}};
    std::istringstream lines{std::string(first)};
    for (std::string line; std::getline(lines, line);) {
      const auto colon = line.find(':');
      const auto known = ours.find(trimmed(std::string_view(line).substr(0, colon)));
      if (colon != std::string::npos && known != ours.end())
        line = line.substr(0, colon + 1) + ' ' + known->second;
      text += line + '\n';
    }
    text += '\n';
  }
  return text;
}

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::uint64_t kPage = 4096;

/// A line of meminfo, in kB.
std::string in_kibibytes(std::string_view name, std::uint64_t bytes) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%8llu kB\n",
                static_cast<unsigned long long>(bytes / kKibibyte));
  std::string line(name);
  line.resize(16, ' ');
  return line + number.data();
}

constexpr char kNoMemoryInUse[] =
    "Buffers:               0 kB\n"
    "Cached:                0 kB\n"
    "SwapCached:            0 kB\n"
    "Active:                0 kB\n"
    "Inactive:              0 kB\n"
    "SwapTotal:             0 kB\n"
    "SwapFree:              0 kB\n"
    "Dirty:                 0 kB\n"
    "Writeback:             0 kB\n"
    "AnonPages:             0 kB\n"
    "Mapped:                0 kB\n"
    "Shmem:                 0 kB\n"
    "Slab:                  0 kB\n"
    "SReclaimable:          0 kB\n"
    "SUnreclaim:            0 kB\n"
    "PageTables:            0 kB\n";

constexpr char kNoHugePages[] =
    "Committed_AS:          0 kB\n"
    "VmallocTotal:   34359738367 kB\n"
    "VmallocUsed:           0 kB\n"
    "VmallocChunk:          0 kB\n"
    "HugePages_Total:       0\n"
    "HugePages_Free:        0\n"
    "HugePages_Rsvd:        0\n"
    "HugePages_Surp:        0\n"
    "Hugepagesize:       2048 kB\n"
    "Hugetlb:               0 kB\n";

std::string meminfo_of(std::uint64_t memory) {
  return in_kibibytes("MemTotal:", memory) + in_kibibytes("MemFree:", memory / 2) +
         in_kibibytes("MemAvailable:", memory / 2) + kNoMemoryInUse +
         in_kibibytes("CommitLimit:", memory / 2) + kNoHugePages;
}

std::string meminfo_of_node(std::uint64_t memory) {
  return "Node 0 " + in_kibibytes("MemTotal:", memory) + "Node 0 " +
         in_kibibytes("MemFree:", memory / 2) + "Node 0 " + in_kibibytes("MemUsed:", memory / 2) +
         "Node 0 HugePages_Total:     0\n"
         "Node 0 HugePages_Free:      0\n"
         "Node 0 HugePages_Surp:      0\n";
}

std::string vmstat_of(std::uint64_t memory) {
  return "nr_free_pages " + std::to_string(memory / 2 / kPage) +
         "\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n";
}

/// It was switched on 1000 s before the world's wall clock begins (sim/programs/kernel/clocks.cc).
constexpr std::uint64_t kUpSeconds = 1000;

std::string stat_of(unsigned processors) {
  constexpr std::uint64_t kTicks = 100;  // a second
  const auto idle = [](std::string_view name, std::uint64_t ticks) {
    return std::string(name) + " 0 0 0 " + std::to_string(ticks) + " 0 0 0 0 0 0\n";
  };
  std::string text = idle("cpu ", processors * kUpSeconds * kTicks);
  for (unsigned processor = 0; processor < processors; ++processor)
    text += idle("cpu" + std::to_string(processor), kUpSeconds * kTicks);
  return text +
         "intr 0\n"
         "ctxt 0\n"
         "btime 1767224600\n"
         "processes 1\n"
         "procs_running 1\n"
         "procs_blocked 0\n"
         "softirq 0 0 0 0 0 0 0 0 0 0 0\n";
}

/// Those that hosts have.
constexpr char kFileSystems[] =
    "nodev\tsysfs\n"
    "nodev\ttmpfs\n"
    "nodev\tbdev\n"
    "nodev\tproc\n"
    "nodev\tcgroup\n"
    "nodev\tcgroup2\n"
    "nodev\tdevtmpfs\n"
    "nodev\tsockfs\n"
    "nodev\tpipefs\n"
    "nodev\tramfs\n"
    "nodev\thugetlbfs\n"
    "nodev\tdevpts\n"
    "nodev\tmqueue\n"
    "nodev\toverlay\n";

constexpr char kFileSystemsOfDisks[] =
    "\text4\n"
    "\txfs\n"
    "\tbtrfs\n";

constexpr char kNoPressure[] =
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

constexpr char kNoMisses[] =
    "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0\n";

/// The limits of the root of each hierarchy: the only control group that programs see
/// (sim/programs/kernel/told_files.cc). The machine's would leave them fewer processors and less
/// memory than the host has. Sources: cgroup-v1/ and cgroup-v2.rst in
/// Documentation/admin-guide/ of Linux.
void add_limits_of_groups(const std::string& processors, std::vector<MachineFile>& files) {
  constexpr char kNoLimit[] = "max\n";
  constexpr char kNoLimitOfBytes[] = "9223372036854771712\n";
  files.push_back({"/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"});
  const auto add = [&](std::string_view path, std::string_view text) {
    files.push_back({"/sys/fs/cgroup/" + std::string(path), std::string(text)});
  };
  for (const char* const own : {"cpuset.cpus", "cpuset.cpus.effective", "cpuset/cpuset.cpus",
                                "cpuset/cpuset.effective_cpus"})
    add(own, processors);
  for (const char* const nodes : {"cpuset.mems", "cpuset.mems.effective", "cpuset/cpuset.mems",
                                  "cpuset/cpuset.effective_mems"})
    add(nodes, "0\n");
  for (const char* const limit : {"memory.max", "memory.high", "memory.swap.max", "pids.max"})
    add(limit, kNoLimit);
  for (const char* const limit :
       {"memory.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.memsw.limit_in_bytes"})
    add("memory/" + std::string(limit), kNoLimitOfBytes);
  add("cpu.max", "max 100000\n");
  add("cpu.weight", "100\n");
  add("cpu/cpu.cfs_quota_us", "-1\n");
  add("cpu/cpu.cfs_period_us", "100000\n");
  add("cpu/cpu.shares", "1024\n");
}

}  // namespace

std::vector<MachineFile> machine_files(const HostDescription& description,
                                       std::string_view cpuinfo) {
  const unsigned processors = description.processors;
  const ProcessorSet all = first_processors(processors);
  const std::string pages = vmstat_of(description.memory);
  std::vector<MachineFile> files{
      {"/proc/cpuinfo", cpuinfo_of(cpuinfo, processors)},
      {"/proc/meminfo", meminfo_of(description.memory)},
      {"/proc/vmstat", pages},
      {"/proc/stat", stat_of(processors)},
      {"/proc/loadavg", "0.00 0.00 0.00 1/1 1\n"},
      {"/proc/uptime",
       std::to_string(kUpSeconds) + ".00 " + std::to_string(processors * kUpSeconds) + ".00\n"},
      {"/proc/version", "Linux version " + description.kernel + " (anyrdma) #1 SMP\n"},
      {"/proc/sys/kernel/osrelease", description.kernel + "\n"},
      {"/proc/sys/kernel/version", "#1 SMP\n"},
      {"/proc/cmdline", "\n"},
      {"/proc/filesystems", std::string(kFileSystems) + kFileSystemsOfDisks},
      {"/proc/sys/kernel/random/boot_id", "a4d1a000-0000-4000-8000-000000000001\n"},
      {"/proc/sys/kernel/pid_max", "4194304\n"},
      {"/proc/sys/kernel/threads-max", "65536\n"},
      {"/proc/sys/fs/file-max", "9223372036854775807\n"},
      {"/proc/sys/fs/file-nr", "0\t0\t1048576\n"},
      {"/proc/sys/fs/inode-nr", "0\t0\n"},
      {"/proc/sys/fs/inode-state", "0\t0\t0\t0\t0\t0\t0\n"},
      {"/proc/sys/fs/dentry-state", "0\t0\t45\t0\t0\t0\n"},
      {"/proc/sys/kernel/random/entropy_avail", "256\n"},
      {"/sys/devices/system/node/node0/meminfo", meminfo_of_node(description.memory)},
      {"/sys/devices/system/node/node0/vmstat", pages},
      {"/sys/devices/system/node/node0/numastat", kNoMisses},
      {"/sys/devices/system/node/node0/cpulist", list_text(all) + "\n"},
      {"/sys/devices/system/node/node0/cpumap", mask_text(all, processors) + "\n"},
  };
  for (const char* const size : {"2048", "1048576"})
    for (const char* const which : {"nr", "free", "resv", "surplus"})
      files.push_back(
          {std::string("/sys/kernel/mm/hugepages/hugepages-") + size + "kB/" + which + "_hugepages",
           "0\n"});
  add_limits_of_groups(list_text(all) + "\n", files);
  for (const char* const what : {"cpu", "io", "memory"})
    files.push_back({std::string("/proc/pressure/") + what, kNoPressure});
  // Megabytes of symbols are here, too: libfabric reads them line by line, twice.
  for (const char* const what :
       {"kallsyms", "interrupts", "softirqs", "schedstat", "diskstats", "buddyinfo", "pagetypeinfo",
        "zoneinfo", "slabinfo", "locks", "timer_list", "sched_debug", "key-users", "keys",
        "partitions", "swaps", "modules"})
    files.push_back({std::string("/proc/") + what, ""});
  return files;
}

std::map<std::string, std::string> processor_files(unsigned processors) {
  constexpr char kNone[] = "\n";
  const ProcessorSet all = first_processors(processors);
  const std::string list = list_text(all) + "\n";
  const std::string mask = mask_text(all, processors) + "\n";
  std::map<std::string, std::string> files{
      {"online", list},      {"possible", list},
      {"present", list},     {"offline", kNone},
      {"isolated", kNone},   {"kernel_max", std::to_string(kProcessorsMax - 1) + "\n"},
      {"smt/active", "0\n"}, {"smt/control", "notsupported\n"}};
  for (unsigned processor = 0; processor < processors; ++processor) {
    const std::string number = std::to_string(processor);
    const std::string own_mask = mask_text(ProcessorSet().set(processor), processors) + "\n";
    const std::string place = "cpu" + number + "/topology/";
    for (const char* const whole : {"core_siblings", "die_cpus", "package_cpus"}) {
      files[place + whole] = mask;
      files[place + whole + "_list"] = list;
    }
    for (const char* const own : {"core_cpus", "thread_siblings"}) {
      files[place + own] = own_mask;
      files[place + own + "_list"] = number + "\n";
    }
    files[place + "core_id"] = number + "\n";
    for (const char* const first : {"die_id", "physical_package_id"}) files[place + first] = "0\n";
    if (processor != 0) files["cpu" + number + "/online"] = "1\n";
  }
  return files;
}

std::vector<MachineFile> huge_page_files(const HostDescription& description, unsigned all,
                                         unsigned free) {
  const std::array<std::pair<std::string_view, unsigned>, 2> counts{
      {{"HugePages_Total:", all}, {"HugePages_Free:", free}}};
  const auto with_counts = [&](std::string_view text) {
    std::string changed;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      for (const auto& [name, count] : counts) {
        if (const auto at = line.find(name); at != std::string::npos) {
          line.erase(at + name.size());
          line += "     " + std::to_string(count);
        }
      }
      changed += line + '\n';
    }
    return changed;
  };
  std::vector<MachineFile> files{
      {"/proc/meminfo", with_counts(meminfo_of(description.memory))},
      {"/sys/devices/system/node/node0/meminfo", with_counts(meminfo_of_node(description.memory))}};
  for (const char* const place : {"/sys/kernel/mm/", "/sys/devices/system/node/node0/"}) {
    const std::string directory = std::string(place) + "hugepages/hugepages-2048kB/";
    files.push_back({directory + "nr_hugepages", std::to_string(all) + "\n"});
    files.push_back({directory + "free_hugepages", std::to_string(free) + "\n"});
  }
  return files;
}

}  // namespace anyrdma::sim
