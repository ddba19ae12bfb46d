// What runs leave behind, and what later ones do about it.
#include "sim/machines/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;

class RunDirectories : public testing::Test {
 protected:
  RunDirectories() {
    std::string name = fs::path(testing::TempDir()) / "directories.XXXXXX";
    parent_ = ::mkdtemp(name.data());
    ::setenv("TMPDIR", parent_.c_str(), 1);
  }
  ~RunDirectories() override {
    ::unsetenv("TMPDIR");
    fs::remove_all(parent_);
  }

  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(parent_), {});
  }

  fs::path parent_;
};

TEST_F(RunDirectories, AreGoneWithTheirMaker) {
  {
    const RunDirectory one;
    ASSERT_TRUE(fs::is_directory(one.path()));
    std::ofstream(one.path() / "file") << "content";
  }
  EXPECT_EQ(count(), 0);
}

TEST_F(RunDirectories, OfRunsThatLiveAreLeftAlone) {
  const RunDirectory one;
  const RunDirectory other;

  EXPECT_NE(one.path(), other.path());
  EXPECT_TRUE(fs::exists(one.path()));
  EXPECT_EQ(count(), 2);
}

TEST_F(RunDirectories, OfAKilledProcessAreRemovedByTheNextOne) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const RunDirectory left;
    std::ofstream(left.path() / "file") << "content";
    fs::create_directories(left.path() / "host/deeper");
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_EQ(count(), 1);

  const RunDirectory next;

  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(fs::exists(next.path()));
}

TEST_F(RunDirectories, OnDiskOfAKilledProcessAreRemovedByTheNextOne) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const RunDirectory left(Storage::kDisk);
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_EQ(count(), 1);

  const RunDirectory next(Storage::kDisk);

  EXPECT_EQ(count(), 1);
}

TEST_F(RunDirectories, StayWhileAForkOfTheirMakerLives) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t maker = ::fork();
  if (maker == 0) {
    const RunDirectory shared;
    if (::fork() == 0) {  // as a job of an exploration, which uses it
      char end = 0;
      ::close(ends[1]);
      (void)!::read(ends[0], &end, 1);
      ::_exit(0);
    }
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(maker, nullptr, 0), maker);
  {
    const RunDirectory next;
    EXPECT_EQ(count(), 2);
  }
  ::close(ends[0]);
  ::close(ends[1]);  // the fork ends
}

TEST_F(RunDirectories, AForkRemovesNothing) {
  const RunDirectory one;
  const pid_t pid = ::fork();
  if (pid == 0) {
    one.~RunDirectory();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);

  EXPECT_TRUE(fs::exists(one.path()));
}

TEST_F(RunDirectories, OtherNamesAndLinksAreNotFollowed) {
  fs::create_directory(parent_ / "anyrdma-sim.ABCDEF");
  fs::create_directory(parent_ / "mine");
  std::ofstream(parent_ / "mine/file") << "content";
  fs::create_directory_symlink(parent_ / "mine", parent_ / "anyrdma-run.ABCDEF");

  const RunDirectory next;

  EXPECT_TRUE(fs::exists(parent_ / "anyrdma-sim.ABCDEF"));
  EXPECT_TRUE(fs::exists(parent_ / "mine/file"));
}

TEST_F(RunDirectories, WhereNoneCanBeMadeThereIsNone) {
  ::setenv("TMPDIR", (parent_ / "missing").c_str(), 1);

  const RunDirectory none;
  EXPECT_EQ(none.path(), "");
  EXPECT_EQ(none.error(), ENOENT);
}

}  // namespace
}  // namespace anyrdma::sim
