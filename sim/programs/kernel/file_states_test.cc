#include "sim/programs/kernel/file_states.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {
namespace {

using transport::realtime::Descriptor;

constexpr timespec kNow{.tv_sec = 1'767'225'600, .tv_nsec = 7};
constexpr timespec kLater{.tv_sec = 1'767'225'900, .tv_nsec = 9};
constexpr timespec kLongAgo{.tv_sec = 1'600'000'000, .tv_nsec = 5};

timespec machines_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

bool operator==(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// Of a file on a disk, which is as old as `time` says.
FileState file(ino_t inode, timespec time) {
  return {.device = makedev(8, 1),
          .inode = inode,
          .mode = S_IFREG | 0644,
          .links = 1,
          .size = 5000,
          .blocks = 16,
          .access = time,
          .modification = time,
          .change = time,
          .birth = time};
}

class FileStatesTest : public ::testing::Test {
 protected:
  FileState told(FileState state, timespec now = kNow, dev_t proc = 0) {
    states_.tell(state, proc, now, numbers_);
    return state;
  }
  FileState told(const Descriptor& descriptor) {
    struct stat about {};
    EXPECT_EQ(::fstat(descriptor.get(), &about), 0);
    FileState state = file(about.st_ino, about.st_mtim);
    state.device = about.st_dev;
    state.mode = about.st_mode;
    return told(state);
  }

  FileStates states_;
  Numbers numbers_;
};

TEST_F(FileStatesTest, AFileOfBeforeTheRunStaysAsItIs) {
  const FileState shown = told(file(77, kLongAgo));
  EXPECT_EQ(shown.device, makedev(8, 1));
  EXPECT_EQ(shown.inode, 77u);
  EXPECT_EQ(shown.blocks, 16);
  EXPECT_TRUE(shown.modification == kLongAgo && shown.change == kLongAgo);
  EXPECT_TRUE(shown.birth == kLongAgo);
}

TEST_F(FileStatesTest, AFileThatWasReadMeanwhileShowsNothingOfIt) {
  for (const timespec& read : {timespec{.tv_sec = 1'700'000'000, .tv_nsec = 0}, machines_now()}) {
    FileState state = file(77, kLongAgo);
    state.access = read;
    EXPECT_TRUE(told(state).access == kLongAgo);
  }
}

TEST_F(FileStatesTest, ATimeOfAccessThatAProgramHasSetStays) {
  FileState state = file(77, machines_now());
  state.access = {.tv_sec = 12, .tv_nsec = 34};
  EXPECT_EQ(told(state).access.tv_sec, 12);
}

TEST_F(FileStatesTest, ANewFileHasTheTimeAtWhichItIsFirstAskedFor) {
  const FileState state = file(88, machines_now());
  for (const timespec& now : {kNow, kLater}) {
    const FileState shown = told(state, now);
    EXPECT_TRUE(shown.modification == kNow && shown.change == kNow && shown.birth == kNow);
    EXPECT_TRUE(shown.access == kNow);
    EXPECT_EQ(shown.inode, 88u);
    EXPECT_EQ(shown.blocks, 16);  // so much is needed, however much the disk has by then
  }
}

TEST_F(FileStatesTest, StatxAfterStatShowsTheBirth) {
  FileState state = file(88, machines_now());
  state.birth = {};
  EXPECT_EQ(told(state).birth.tv_sec, 0);
  state.birth = state.change;
  EXPECT_TRUE(told(state, kLater).birth == kNow);
}

TEST_F(FileStatesTest, AChangedFileHasALaterTimeAndItsOldNumber) {
  (void)told(file(77, kLongAgo));
  const FileState shown = told(file(77, machines_now()), kLater);
  EXPECT_TRUE(shown.modification == kLater);
  EXPECT_EQ(shown.inode, 77u);
}

TEST_F(FileStatesTest, AFileThatGrowsWithinOneTickOfTheKernelHasALaterTime) {
  FileState state = file(88, machines_now());
  (void)told(state);
  state.size += 1;
  EXPECT_TRUE(told(state, kLater).modification == kLater);
}

TEST_F(FileStatesTest, TimesOfTheProgramsOwnClockStay) {
  timespec future = machines_now();
  future.tv_sec += 1000;
  FileState state = file(77, kNow);
  state.access = future;
  state.change = machines_now();
  const FileState shown = told(state, kLater);
  EXPECT_TRUE(shown.modification == kNow);
  EXPECT_TRUE(shown.access == future);
}

TEST_F(FileStatesTest, FilesWithoutANameAreNumberedInTheirOrder) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor pipe(ends[0]);
  const Descriptor other(ends[1]);
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Descriptor memory(::memfd_create("x", MFD_CLOEXEC));
  EXPECT_EQ(told(pipe).inode, 1001u);
  EXPECT_EQ(told(socket).inode, 1002u);
  EXPECT_EQ(told(memory).inode, 1003u);
  EXPECT_EQ(told(other).inode, 1001u);
  EXPECT_EQ(told(pipe).device, makedev(0, 41));
  EXPECT_EQ(told(socket).device, makedev(0, 42));
}

TEST_F(FileStatesTest, AFileOfTheSimulatorIsNumberedInItsOrder) {
  struct stat about {};
  ASSERT_EQ(::stat("/proc/self/exe", &about), 0);
  FileState state = file(about.st_ino, kLongAgo);
  state.device = about.st_dev;
  EXPECT_EQ(told(state).inode, about.st_ino);
  states_.note_own("/proc/self/exe");
  states_.note_own("/no/such/file");
  EXPECT_EQ(told(state).inode, 1001u);
}

TEST_F(FileStatesTest, AFileWithoutANameThatIsAsOldAsTheKernelHasNoTimes) {
  const Descriptor events(::eventfd(0, EFD_CLOEXEC));
  struct stat about {};
  ASSERT_EQ(::fstat(events.get(), &about), 0);
  FileState state = file(about.st_ino, kLongAgo);
  state.device = about.st_dev;
  EXPECT_EQ(told(state).modification.tv_sec, 0);
}

TEST_F(FileStatesTest, NumbersOfNamespacesAreThoseOfTheirLinks) {
  struct stat about {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &about), 0);
  FileState state = file(about.st_ino, kLongAgo);
  state.device = about.st_dev;
  EXPECT_EQ(told(state).inode, numbers_.of(Numbers::Kind::kNamespace, about.st_ino));
}

TEST_F(FileStatesTest, FilesOfProcHaveNoTimesAndDirectoriesNoNumberOfLinks) {
  const dev_t proc = makedev(0, 99);
  FileState state = file(123'456, machines_now());
  state.device = proc;
  state.mode = S_IFDIR | 0555;
  state.links = 317;
  const FileState shown = told(state, kNow, proc);
  EXPECT_EQ(shown.inode, 1001u);
  EXPECT_EQ(shown.links, 1u);
  EXPECT_EQ(shown.modification.tv_sec, 0);
}

TEST_F(FileStatesTest, OnlyAFileSystemOnNoDiskMayBeProc) {
  EXPECT_TRUE(FileStates::may_be_proc(makedev(0, 4)));
  EXPECT_FALSE(FileStates::may_be_proc(makedev(8, 1)));
}

}  // namespace
}  // namespace anyrdma::sim::programs
