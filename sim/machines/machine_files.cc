#include "sim/machines/machine_files.h"

#include <array>
#include <map>
#include <sstream>
#include <utility>

namespace anyrdma::sim {
namespace {

constexpr int kProcessors = 2;

/// The time stamp counter counts nanoseconds (sim/programs/process/thread.cc).
constexpr std::string_view kMegahertz = "1000.000";

std::string_view trimmed(std::string_view text) {
  const auto end = text.find_last_not_of(" \t");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// The first processor's lines, for each.
std::string cpuinfo_of(std::string_view machine) {
  const std::string_view first = machine.substr(0, machine.find("\n\n"));
  std::string text;
  for (int processor = 0; processor < kProcessors; ++processor) {
    const std::string number = std::to_string(processor);
    const std::string all = std::to_string(kProcessors);
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

constexpr char kMemory[] =
    "MemTotal:        8388608 kB\n"
    "MemFree:         4194304 kB\n"
    "MemAvailable:    4194304 kB\n"
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
    "PageTables:            0 kB\n"
    "CommitLimit:     4194304 kB\n"
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

constexpr char kMemoryOfNode[] =
    "Node 0 MemTotal:        8388608 kB\n"
    "Node 0 MemFree:         4194304 kB\n"
    "Node 0 MemUsed:         4194304 kB\n"
    "Node 0 HugePages_Total:     0\n"
    "Node 0 HugePages_Free:      0\n"
    "Node 0 HugePages_Surp:      0\n";

constexpr char kPages[] = "nr_free_pages 1048576\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n";

/// It was switched on 1000 s before the world's wall clock begins (sim/programs/kernel/clocks.cc).
constexpr char kStat[] =
    "cpu  0 0 0 200000 0 0 0 0 0 0\n"
    "cpu0 0 0 0 100000 0 0 0 0 0 0\n"
    "cpu1 0 0 0 100000 0 0 0 0 0 0\n"
    "intr 0\n"
    "ctxt 0\n"
    "btime 1767224600\n"
    "processes 1\n"
    "procs_running 1\n"
    "procs_blocked 0\n"
    "softirq 0 0 0 0 0 0 0 0 0 0 0\n";

constexpr char kNoPressure[] =
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

constexpr char kNoMisses[] =
    "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0\n";

}  // namespace

std::vector<MachineFile> machine_files(std::string_view cpuinfo) {
  std::vector<MachineFile> files{
      {"/proc/cpuinfo", cpuinfo_of(cpuinfo)},
      {"/proc/meminfo", kMemory},
      {"/proc/vmstat", kPages},
      {"/proc/stat", kStat},
      {"/proc/loadavg", "0.00 0.00 0.00 1/1 1\n"},
      {"/proc/uptime", "1000.00 2000.00\n"},
      {"/proc/version", "Linux version 6.1.0-anyrdma (anyrdma) #1 SMP\n"},
      {"/proc/cmdline", "\n"},
      {"/proc/sys/kernel/random/boot_id", "a4d1a000-0000-4000-8000-000000000001\n"},
      {"/proc/sys/fs/file-nr", "0\t0\t1048576\n"},
      {"/proc/sys/fs/inode-nr", "0\t0\n"},
      {"/proc/sys/fs/inode-state", "0\t0\t0\t0\t0\t0\t0\n"},
      {"/proc/sys/fs/dentry-state", "0\t0\t45\t0\t0\t0\n"},
      {"/proc/sys/kernel/random/entropy_avail", "256\n"},
      {"/sys/devices/system/node/node0/meminfo", kMemoryOfNode},
      {"/sys/devices/system/node/node0/vmstat", kPages},
      {"/sys/devices/system/node/node0/numastat", kNoMisses},
  };
  for (const char* const set : {"online", "possible", "present"})
    files.push_back({std::string("/sys/devices/system/cpu/") + set, "0-1\n"});
  for (const char* const size : {"2048", "1048576"})
    for (const char* const which : {"nr", "free", "resv", "surplus"})
      files.push_back(
          {std::string("/sys/kernel/mm/hugepages/hugepages-") + size + "kB/" + which + "_hugepages",
           "0\n"});
  for (const char* const what : {"cpu", "io", "memory"})
    files.push_back({std::string("/proc/pressure/") + what, kNoPressure});
  // Megabytes of symbols are here, too: libfabric reads them line by line, twice.
  for (const char* const what : {"kallsyms", "interrupts", "softirqs", "schedstat", "diskstats",
                                 "buddyinfo", "pagetypeinfo", "zoneinfo", "slabinfo", "locks",
                                 "timer_list", "sched_debug", "key-users", "partitions", "swaps"})
    files.push_back({std::string("/proc/") + what, ""});
  return files;
}

std::vector<MachineFile> huge_page_files(unsigned all, unsigned free) {
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
      {"/proc/meminfo", with_counts(kMemory)},
      {"/sys/devices/system/node/node0/meminfo", with_counts(kMemoryOfNode)}};
  for (const char* const place : {"/sys/kernel/mm/", "/sys/devices/system/node/node0/"}) {
    const std::string directory = std::string(place) + "hugepages/hugepages-2048kB/";
    files.push_back({directory + "nr_hugepages", std::to_string(all) + "\n"});
    files.push_back({directory + "free_hugepages", std::to_string(free) + "\n"});
  }
  return files;
}

}  // namespace anyrdma::sim
