#include "sim/machines/named_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace anyrdma::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NamedDirectories : public ::testing::Test {
 protected:
  NamedDirectories() {
    std::string pattern = "/dev/shm/anyrdma-named.XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) directory = pattern;
  }
  ~NamedDirectories() override { std::filesystem::remove_all(directory); }
  void SetUp() override {
    if (directory.empty()) GTEST_SKIP() << "nothing can be made in /dev/shm here";
  }

  std::string directory;
};

TEST_F(NamedDirectories, AreThoseWhosePathsOccur) {
  EXPECT_THAT(named_directories("sh -c \"cat " + directory + "/a/file\""), ElementsAre(directory));
  EXPECT_THAT(named_directories("LD_LIBRARY_PATH=/lib:" + directory + ":/x"),
              ElementsAre(directory));
  EXPECT_THAT(named_directories(directory), ElementsAre(directory));
}

TEST_F(NamedDirectories, AreOnlyExistingOnes) {
  EXPECT_THAT(named_directories(directory + "-none/file"), IsEmpty());
  EXPECT_THAT(named_directories("/dev/shm/ /dev/shm /dev/shm/. /dev/shm/../etc /tmp/x"), IsEmpty());
  EXPECT_THAT(named_directories(""), IsEmpty());
}

TEST_F(NamedDirectories, AreThoseOfTheEnvironment) {
  ::setenv("ANYRDMA_NAMED", (directory + "/lib").c_str(), 1);
  EXPECT_THAT(directories_named_around(), Contains(directory));
  ::unsetenv("ANYRDMA_NAMED");
}

}  // namespace
}  // namespace anyrdma::sim
