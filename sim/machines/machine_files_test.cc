#include "sim/machines/machine_files.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace anyrdma::sim {
namespace {

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

std::string text_of(std::string_view path, std::string_view cpuinfo) {
  const std::vector<MachineFile> files = machine_files(cpuinfo);
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
  const std::vector<MachineFile> one = machine_files(kOneOfFour);
  const std::vector<MachineFile> other = machine_files(faster + faster + faster);
  EXPECT_TRUE(std::ranges::equal(one, other, [](const MachineFile& a, const MachineFile& b) {
    return a.path == b.path && a.text == b.text;
  }));
}

TEST(MachineFiles, HaveNoHugePagesWhateverTheMachineHas) {
  EXPECT_THAT(text_of("/proc/meminfo", ""), ::testing::HasSubstr("HugePages_Total:       0\n"));
  EXPECT_EQ(text_of("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", ""), "0\n");
}

TEST(MachineFiles, SayNothingOfProcessorsWhereTheMachineDoesNot) {
  EXPECT_EQ(text_of("/proc/cpuinfo", ""), "\n\n");
  EXPECT_THAT(text_of("/proc/meminfo", ""), ::testing::HasSubstr("MemTotal:        8388608 kB\n"));
}

TEST(HugePageFiles, HaveTheNumbers) {
  std::map<std::string, std::string> files;
  for (const auto& [path, text] : huge_page_files(12, 7)) files[path] = text;

  EXPECT_THAT(files["/proc/meminfo"],
              testing::HasSubstr("\nHugePages_Total:     12\nHugePages_Free:     7\n"));
  EXPECT_THAT(files["/proc/meminfo"], testing::HasSubstr("MemTotal:        8388608 kB\n"));
  EXPECT_EQ(files["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"], "12\n");
  EXPECT_EQ(files["/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"], "7\n");
  EXPECT_THAT(files["/sys/devices/system/node/node0/meminfo"],
              testing::HasSubstr("Node 0 HugePages_Free:     7\n"));
}

}  // namespace
}  // namespace anyrdma::sim
