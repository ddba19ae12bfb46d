// Directories and memory that a test gives the hosts of its programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/machines/running.h"

namespace anyrdma::sim {
namespace {

using ::testing::HasSubstr;

class Common : public ::testing::Test {
 protected:
  /// What a program on the host b reads in a file, after one on the host a has run `command`.
  std::string read_by_b(const ProgramsOptions& options, const std::string& command,
                        const std::string& file) {
    Programs programs(world_, options);
    ProgramHost& a = programs.add_host("a", {"10.0.0.1"});
    ProgramHost& b = programs.add_host("b", {"10.0.0.2"});
    (void)a.start({"sh", "-c", command});
    RunningProgram& reader = b.start({"cat", file}, {.after = std::chrono::seconds(1)});
    EXPECT_TRUE(programs.run()) << programs.stuck_report();
    return reader.output();
  }

  static std::string refusal(const ProgramsOptions& options) {
    World world(1);
    try {
      Programs programs(world, options);
    } catch (const StartError& error) {
      return error.what();
    }
    return "";
  }

  World world_{7};
};

TEST_F(Common, ASharedDirectoryIsThatOfAllHostsOfARun) {
  const std::string file = "/tmp/anyrdma-common-test/file";
  EXPECT_EQ(read_by_b({.share = {"/tmp/anyrdma-common-test"}}, "echo shared >" + file, file),
            "shared\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/anyrdma-common-test"));
}

TEST_F(Common, AKeptDirectoryIsTheMachines) {
  const std::filesystem::path kept = std::filesystem::path(::testing::TempDir()) / "kept";
  std::filesystem::create_directories(kept);
  const std::string file = kept / "file";
  EXPECT_EQ(read_by_b({.keep = {kept}}, "echo kept >" + file, file), "kept\n");
  std::ifstream left(file);
  std::string line;
  std::getline(left, line);
  EXPECT_EQ(line, "kept");
}

TEST_F(Common, HostsHaveTheHugePagesOfTheOptions) {
  EXPECT_THAT(read_by_b({.huge_pages = 12}, "true", "/proc/meminfo"),
              HasSubstr("HugePages_Total:     12"));
}

TEST_F(Common, HostsHaveTheDescriptionOfTheOptionsOrTheirOwn) {
  Programs programs(world_, {.description = {.processors = 6, .kernel = "5.10.0"}});
  ProgramHost& usual = programs.add_host("usual", {"10.0.0.1"});
  ProgramHost& other = programs.add_host("other", {"10.0.0.2"}, {.processors = 3});
  RunningProgram& six = usual.start({"sh", "-c", "nproc; uname -r"});
  RunningProgram& three = other.start({"sh", "-c", "nproc; uname -r"});

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(six.output(), "6\n5.10.0\n");
  EXPECT_EQ(three.output(), "3\n6.1.0-anyrdma\n");
}

TEST_F(Common, AnInvalidDescriptionIsRefused) {
  Programs programs(world_, {.huge_pages = 64});
  const auto problem = [&](const HostDescription& description) -> std::string {
    try {
      programs.add_host("a", {"10.0.0.1"}, description);
    } catch (const StartError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem({.processors = 0}), "the host a: a host has from 1 to 1024 processors, not 0.");
  EXPECT_THAT(problem({.memory = 64 << 20}), HasSubstr("too small for its 64 huge pages"));
}

TEST_F(Common, ADirectoryThatIsNotThereIsRefused) {
  EXPECT_THAT(refusal({.keep = {"/no/such"}}), HasSubstr("there is no directory '/no/such'"));
  EXPECT_THAT(refusal({.share = {"/no/such"}}), HasSubstr("there is no directory '/no/such'"));
  for (const char* const path : {"", "/", "relative", "./tmp"}) {
    EXPECT_THAT(refusal({.keep = {path}}), HasSubstr("'keep' needs an absolute path")) << path;
    EXPECT_THAT(refusal({.share = {path}}), HasSubstr("'share' needs an absolute path")) << path;
  }
}

}  // namespace
}  // namespace anyrdma::sim
