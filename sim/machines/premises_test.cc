// What machines of one run leave to those of the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/machines/machines.h"

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    names.push_back(entry.path().filename());
  return names;
}

TEST(Premises, HaveNothingOfARunOnceItIsOver) {
  Premises premises;
  {
    World world(1);
    Machines machines(world, {}, &premises);
    ASSERT_TRUE(machines.add_host("host", {"10.0.0.1"}));
    ASSERT_THAT(names_in(premises.directory()), testing::Contains("host"));
  }
  EXPECT_THAT(names_in(premises.directory()), IsEmpty());
}

TEST(Premises, AreGoneInTheEnd) {
  fs::path directory;
  {
    Premises premises;
    directory = premises.directory();
    ASSERT_TRUE(fs::exists(directory));
  }
  EXPECT_FALSE(fs::exists(directory));
}

TEST(Premises, ThatCannotBeMadeAreAHostsProblem) {
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  World world(1);
  Machines machines(world, {});
  ::unsetenv("TMPDIR");

  const auto made = machines.add_host("host", {"10.0.0.1"});

  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().sentence, testing::HasSubstr("$TMPDIR"));
  EXPECT_FALSE(fs::exists("0"));  // nor does a file of the run's come to the working directory
}

TEST(Premises, OfAForkAreOthersAndAreLeftToItsMaker) {
  Premises premises;
  const fs::path own = premises.directory();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool differs = premises.directory() != own && fs::exists(premises.directory());
    premises.~Premises();
    ::_exit(differs && fs::exists(own) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(premises.directory(), own);
}

}  // namespace
}  // namespace anyrdma::sim
