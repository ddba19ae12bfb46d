#include "sim/machines/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Verify : public ::testing::Test {
 protected:
  std::string sh(const std::string& script, std::chrono::milliseconds limit = 60s) {
    return verify({"/bin/sh", "-c", script},
                  {.directory = place.path(), .environment = {{"WHO", "me"}}, .limit = limit});
  }

  VerifyPlace place = VerifyPlace::create().value();
};

TEST_F(Verify, SaysNothingOfACommandThatIsContent) {
  EXPECT_EQ(sh("echo well; exit 0"), "");
}

TEST_F(Verify, ReportsWhatTheCommandWritesAndHowItEnds) {
  EXPECT_EQ(sh("echo entry 3 is lost; echo more >&2; exit 4"),
            "verify: entry 3 is lost\nmore\n('/bin/sh -c echo entry 3 is lost; echo more >&2; "
            "exit 4' ended with status 4)\n");
}

TEST_F(Verify, ReportsACommandThatFailsWithoutAWord) {
  EXPECT_EQ(sh("exit 1"), "verify: '/bin/sh -c exit 1' ended with status 1 without a word\n");
}

TEST_F(Verify, WorksInItsDirectoryWithItsVariablesAndWithoutInput) {
  ASSERT_TRUE(place.write("statuses", "a/b exit 0\n"));

  EXPECT_EQ(sh("grep -q 'exit 0' statuses && test $WHO = me && ! read line"), "");
}

TEST_F(Verify, EndsACommandThatHangsWithAllItHasStarted) {
  const std::string pids = (place.path() / "pid").string();
  const std::string said = sh("sleep 1000 & echo $! > pid; wait", 200ms);

  EXPECT_THAT(said, HasSubstr("did not end within 0.2 s of real time, and was killed"));
  pid_t child = 0;
  std::ifstream(pids) >> child;
  ASSERT_GT(child, 0);
  // Killed; who inherits it may not have waited for it yet.
  std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
  std::string text(std::istreambuf_iterator<char>(stat), {});
  EXPECT_TRUE(text.empty() || text.find(") S") == std::string::npos) << text;
}

TEST_F(Verify, DoesNotWaitForWhatTheCommandLeavesBehind) {
  EXPECT_EQ(sh("sleep 1000 & exit 0", 30s), "");
}

TEST_F(Verify, ReportsACommandThatIsKilled) {
  EXPECT_THAT(sh("kill -KILL $$"), HasSubstr("was ended by signal 9"));
}

TEST_F(Verify, KeepsTheBeginningOfWhatIsTooLong) {
  const std::string said = sh("yes abcdefg | head -c 1000000; exit 1");

  EXPECT_THAT(said, AllOf(StartsWith("verify: abcdefg\n"), HasSubstr("bytes more)")));
  EXPECT_THAT(said, SizeIs(::testing::Lt(70'000u)));
}

TEST_F(Verify, EndsACommandThatWritesForEver) {
  EXPECT_THAT(sh("yes", 300ms), HasSubstr("did not end within 0.3 s"));
}

TEST_F(Verify, ReportsACommandThatIsNotThere) {
  EXPECT_THAT(verify({"/nowhere/at/all"}, {.directory = place.path()}),
              AllOf(HasSubstr("/nowhere/at/all: No such file"), HasSubstr("status 127")));
}

TEST_F(Verify, ReportsADirectoryThatIsNotThere) {
  EXPECT_THAT(verify({"true"}, {.directory = place.path() / "none"}), HasSubstr("No such file"));
}

TEST_F(Verify, StopsWhenItIsInterrupted) {
  EXPECT_EQ(
      verify({"sleep", "1000"}, {.directory = place.path(), .interrupted = [] { return true; }}),
      "");
}

TEST(StatusLine, SaysHowAProgramEnded) {
  EXPECT_EQ(status_line("a/b", 0x0300), "a/b exit 3");
  EXPECT_EQ(status_line("a/b", SIGSEGV), "a/b signal 11");
  EXPECT_EQ(status_line("a/b", std::nullopt), "a/b running");
}

TEST(VerifyPlace, IsRemovedAtItsEnd) {
  std::filesystem::path path;
  {
    const VerifyPlace place = VerifyPlace::create().value();
    path = place.path();
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(VerifyPlace::create("/nowhere").error().sentence, EndsWith("Check $TMPDIR."));
}

}  // namespace
}  // namespace anyrdma::sim
