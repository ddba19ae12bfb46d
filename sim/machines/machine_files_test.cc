#include "sim/machines/machine_files.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace anyrdma::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kOneOfFour[] =
    "processor\t: 0\n"
    "model name\t: Some Processor @ 2.60GHz\n"
    "cpu MHz\t\t: 2596.098\n"
    "siblings\t: 4\n"
    "core id\t\t: 0\n"
    "cpu cores\t: 4\n"
    "flags\t\t: fpu sse2\n"
    "power management:\n"
    "\n";

std::string text_of(std::string_view path, std::string_view cpuinfo,
                    const HostDescription& description = {}) {
  const std::vector<MachineFile> files = machine_files(description, cpuinfo);
  const auto found = std::ranges::find(files, path, &MachineFile::path);
  return found == files.end() ? "there is none" : found->text;
}

TEST(MachineFiles, ShowTwoProcessorsOfTheMachinesKindWhoseCountersCountNanoseconds) {
  EXPECT_EQ(text_of("/proc/cpuinfo", std::string(kOneOfFour) + "processor\t: 1\n\n"),
            "processor\t: 0\n"
            "model name\t: Some Processor @ 2.60GHz\n"
            "cpu MHz\t\t: 1000.000\n"
            "siblings\t: 2\n"
            "core id\t\t: 0\n"
            "cpu cores\t: 2\n"
            "flags\t\t: fpu sse2\n"
            "power management:\n"
            "\n"
            "processor\t: 1\n"
            "model name\t: Some Processor @ 2.60GHz\n"
            "cpu MHz\t\t: 1000.000\n"
            "siblings\t: 2\n"
            "core id\t\t: 1\n"
            "cpu cores\t: 2\n"
            "flags\t\t: fpu sse2\n"
            "power management:\n"
            "\n");
}

TEST(MachineFiles, AreTheSameHoweverManyAndFastTheMachinesProcessorsAre) {
  std::string faster = kOneOfFour;
  faster.replace(faster.find("2596.098"), 8, "3100.000");
  const std::vector<MachineFile> one = machine_files({}, kOneOfFour);
  const std::vector<MachineFile> other = machine_files({}, faster + faster + faster);
  EXPECT_TRUE(std::ranges::equal(one, other, [](const MachineFile& a, const MachineFile& b) {
    return a.path == b.path && a.text == b.text;
  }));
}

TEST(MachineFiles, HaveNoHugePagesWhateverTheMachineHas) {
  EXPECT_THAT(text_of("/proc/meminfo", ""), HasSubstr("HugePages_Total:       0\n"));
  EXPECT_EQ(text_of("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", ""), "0\n");
}

TEST(MachineFiles, SayNothingOfProcessorsWhereTheMachineDoesNot) {
  EXPECT_EQ(text_of("/proc/cpuinfo", ""), "\n\n");
  EXPECT_THAT(text_of("/proc/meminfo", ""), HasSubstr("MemTotal:        8388608 kB\n"));
}

TEST(MachineFiles, ShowTheProcessorsOfTheDescription) {
  const HostDescription description{.processors = 36};
  const auto says = [&](std::string_view path) { return text_of(path, kOneOfFour, description); };
  EXPECT_THAT(says("/proc/cpuinfo"), HasSubstr("siblings\t: 36\n"));
  EXPECT_THAT(says("/proc/cpuinfo"), HasSubstr("processor\t: 35\n"));
  EXPECT_THAT(says("/proc/cpuinfo"), Not(HasSubstr("processor\t: 36\n")));
  EXPECT_THAT(says("/proc/stat"), StartsWith("cpu  0 0 0 3600000 0"));
  EXPECT_THAT(says("/proc/stat"), HasSubstr("\ncpu35 0 0 0 100000 0 0 0 0 0 0\nintr"));
  EXPECT_EQ(says("/proc/uptime"), "1000.00 36000.00\n");
  EXPECT_EQ(says("/sys/devices/system/node/node0/cpulist"), "0-35\n");
  EXPECT_EQ(says("/sys/devices/system/node/node0/cpumap"), "f,ffffffff\n");
}

TEST(MachineFiles, ShowNoControlGroupThatLeavesLess) {
  const HostDescription description{.processors = 36};
  for (const char* const place : {"cpuset/cpuset.cpus", "cpuset.cpus.effective"})
    EXPECT_EQ(text_of("/sys/fs/cgroup/" + std::string(place), "", description), "0-35\n");
  EXPECT_EQ(text_of("/sys/fs/cgroup/memory.max", ""), "max\n");
  EXPECT_EQ(text_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", ""), "-1\n");
}

TEST(MachineFiles, ShowTheMemoryAndTheKernelOfTheDescription) {
  const HostDescription description{.memory = 1ull << 30, .kernel = "5.10.0"};
  const auto says = [&](std::string_view path) { return text_of(path, kOneOfFour, description); };
  EXPECT_THAT(says("/proc/meminfo"),
              StartsWith("MemTotal:        1048576 kB\nMemFree:          524288 kB\n"));
  EXPECT_THAT(says("/proc/vmstat"), StartsWith("nr_free_pages 131072\n"));
  EXPECT_THAT(says("/sys/devices/system/node/node0/meminfo"),
              StartsWith("Node 0 MemTotal:        1048576 kB\n"));
  EXPECT_EQ(says("/proc/version"), "Linux version 5.10.0 (anyrdma) #1 SMP\n");
  EXPECT_EQ(says("/proc/sys/kernel/osrelease"), "5.10.0\n");
}

TEST(ProcessorFiles, ShowAPackageOfCores) {
  const auto files = processor_files(3);
  const auto says = [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? "there is none" : found->second;
  };
  for (const char* const set : {"online", "possible", "present"}) EXPECT_EQ(says(set), "0-2\n");
  EXPECT_EQ(says("offline"), "\n");
  EXPECT_EQ(says("cpu0/online"), "there is none");  // no x86 switches it off
  EXPECT_EQ(says("cpu2/online"), "1\n");
  EXPECT_EQ(says("cpu2/topology/core_id"), "2\n");
  EXPECT_EQ(says("cpu2/topology/core_cpus"), "4\n");
  EXPECT_EQ(says("cpu2/topology/thread_siblings_list"), "2\n");
  EXPECT_EQ(says("cpu2/topology/package_cpus"), "7\n");
  EXPECT_EQ(says("cpu2/topology/core_siblings_list"), "0-2\n");
  EXPECT_EQ(says("cpu3/topology/core_id"), "there is none");
}

TEST(HugePageFiles, HaveTheNumbers) {
  std::map<std::string, std::string> files;
  for (const auto& [path, text] : huge_page_files({}, 12, 7)) files[path] = text;

  EXPECT_THAT(files["/proc/meminfo"],
              HasSubstr("\nHugePages_Total:     12\nHugePages_Free:     7\n"));
  EXPECT_THAT(files["/proc/meminfo"], HasSubstr("MemTotal:        8388608 kB\n"));
  EXPECT_EQ(files["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"], "12\n");
  EXPECT_EQ(files["/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"], "7\n");
  EXPECT_THAT(files["/sys/devices/system/node/node0/meminfo"],
              HasSubstr("Node 0 HugePages_Free:     7\n"));
}

}  // namespace
}  // namespace anyrdma::sim
