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
