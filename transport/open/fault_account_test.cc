// The account of a plan in memory that several processes have in common.
#include "transport/open/fault_account.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "verbs/testing/errno_of.h"

namespace anyrdma::transport {
namespace {

using fault::FaultPlan;
using fault::FaultStatus;
using ::testing::HasSubstr;
using ::testing::Not;
using verbs::testing::errno_of;

const FaultPlan kPlan =
    FaultPlan::parse("on h request 1: overflow\non h call connect 1: crash h").value();

FaultStatus counted(std::size_t index, std::uint32_t armed, std::uint32_t fired,
                    std::uint32_t observed) {
  return {.fault = kPlan.faults[index], .armed = armed, .fired = fired, .observed = observed};
}

TEST(FaultAccount, IsTheSumOfWhatTheProcessesCounted) {
  const auto kept = FaultAccount::create(2).value();
  const auto same = FaultAccount::attach(kept->name(), 2).value();
  FaultAccount::Share one(*same);
  FaultAccount::Share other(*same);
  same->join();
  same->join();

  one.count(0, counted(0, 1, 0, 0));
  one.count(0, counted(0, 2, 1, 1));
  other.count(0, counted(0, 5, 1, 0));
  other.count(1, counted(1, 1, 1, 1));

  EXPECT_EQ(kept->processes(), 2u);
  EXPECT_EQ(kept->status(kPlan).at(0).to_string(),
            "planned 1, armed 7, fired 2, observed 1: on h request 1: overflow");
  EXPECT_EQ(kept->status(kPlan).at(1).observed, 1u);
}

TEST(FaultAccount, OutlivesAProcessThatIsKilled) {
  const auto kept = FaultAccount::create(2).value();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto same = FaultAccount::attach(kept->name(), 2).value();
    same->join();
    FaultAccount::Share share(*same);
    share.count(1, counted(1, 3, 1, 1));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);

  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(kept->status(kPlan).at(1).armed, 3u);
  EXPECT_EQ(kept->processes(), 1u);
}

TEST(FaultAccount, IsNotAttachedByAWrongName) {
  const auto kept = FaultAccount::create(2).value();
  const std::string self = std::to_string(::getpid());
  const auto error = [](const std::string& name, std::size_t faults = 2) {
    return errno_of(FaultAccount::attach(name, faults));
  };

  for (const std::string name : {"", ":", "1", "1:2", "1:2:", "1:2:3:", "1:2:3x", "-1:2:3", "a:b:c",
                                 "1:2:99999999999999999999"}) {
    EXPECT_EQ(error(name), EINVAL) << name;
  }
  EXPECT_EQ(error(self + ":99999:1"), ENOENT);
  EXPECT_EQ(error(kept->name() + "1"), EINVAL) << "another nonce";
  EXPECT_EQ(error(kept->name(), 3), EINVAL) << "another plan";
}

TEST(FaultAccount, IsNotWhatCouldShrinkOrWait) {
  char path[] = "/tmp/anyrdma-account.XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ::unlink(path);
  ASSERT_EQ(::ftruncate(file, 1024), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string self = std::to_string(::getpid());

  for (const int fd : {file, ends[0], ends[1]}) {
    EXPECT_EQ(errno_of(FaultAccount::attach(self + ":" + std::to_string(fd) + ":0", 2)), EINVAL);
    ::close(fd);
  }
}

TEST(FaultReport, SaysWhatWasMissedAndByHowMany) {
  const FaultReport fine = report_of({counted(0, 1, 1, 1)}, "7", 1);
  EXPECT_FALSE(fine.missed);
  EXPECT_EQ(fine.text,
            "anyrdma: faults, seed 7:\n"
            "  planned 1, armed 1, fired 1, observed 1: on h request 1: overflow\n");

  const FaultReport missed = report_of({counted(0, 1, 1, 1), counted(1, 0, 0, 0)}, "7", 3);
  EXPECT_TRUE(missed.missed);
  EXPECT_THAT(missed.text, HasSubstr("faults, seed 7, in 3 processes:\n"));
  EXPECT_THAT(missed.text, HasSubstr("anyrdma: a planned fault did not happen"));

  FaultStatus maybe = counted(0, 0, 0, 0);
  maybe.fault.maybe = true;
  EXPECT_FALSE(report_of({maybe}, "1", 1).missed);
}

TEST(FaultReport, SaysThatTheProgramHadNothingToDoWithIt) {
  const FaultReport report = report_of({counted(0, 0, 0, 0)}, "1", 0);

  EXPECT_TRUE(report.missed);
  EXPECT_THAT(report.text, HasSubstr("anyrdma: the program opened no RDMA device.\n"));
  EXPECT_THAT(report_of({counted(0, 0, 0, 0)}, "1", 1).text, Not(HasSubstr("opened no")));
}

}  // namespace
}  // namespace anyrdma::transport
