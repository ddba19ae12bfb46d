#include "sim/machines/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() { fs::create_directories(prefix / "bin"); }
  ~InstallationTest() override { fs::remove_all(prefix); }

  void put(const fs::path& directory, const std::string& name) const {
    fs::create_directories(prefix / directory);
    std::ofstream(prefix / directory / name) << "";
  }
  void put_all(const fs::path& directory) const {
    for (const char* library : kLibraries) put(directory, library);
  }

  fs::path prefix = fs::path(::testing::TempDir()) / "anyrdma-installation-test";
};

TEST_F(InstallationTest, AsBuiltHasItsLibrariesInLib) {
  put_all("bin/lib");

  EXPECT_EQ(find_libraries(prefix / "bin").directory, prefix / "bin/lib");
}

TEST_F(InstallationTest, AsInstalledHasThemInThePrefixesLib) {
  put_all("lib/anyrdma");

  EXPECT_EQ(find_libraries(prefix / "bin").directory, prefix / "lib/anyrdma");
}

TEST_F(InstallationTest, IncompleteSaysWhatIsMissingWhereMostOfItIs) {
  put("lib/anyrdma", "libibverbs.so.1");
  put("lib/anyrdma", "libanyrdma.so");
  put("lib/anyrdma", "libanyrdma-nodes.so");
  put("lib/anyrdma", "libanyrdma-points.so");

  const Installation found = find_libraries(prefix / "bin");

  EXPECT_TRUE(found.directory.empty());
  EXPECT_EQ(found.expected, prefix / "lib/anyrdma");
  EXPECT_THAT(found.missing, ::testing::ElementsAre("librdmacm.so.1"));
}

}  // namespace
}  // namespace anyrdma::sim
