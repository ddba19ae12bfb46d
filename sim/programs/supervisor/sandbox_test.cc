// Programs of the shell in the world: how they end, what they say and when, and what time they see.
#include "sim/programs/supervisor/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::programs {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;
using verbs::testing::errno_of;

/// More than a shell and the programs it starts take for what they ask on the way.
constexpr Duration kSlack = 1ms;

struct Said {
  Duration time{};
  std::string program{};
  bool error = false;
  std::string text{};
};

class ProgramsInTheWorld : public ::testing::Test {
 protected:
  Program& run_later(Host& at, std::vector<std::string> words, Duration start = {}) {
    const std::string path = words.front();
    const auto program = sandbox.start(at, "program",
                                       {.path = path,
                                        .arguments = std::move(words),
                                        .environment = {"PATH=/usr/bin:/bin", "TZ=UTC"},
                                        .start = start});
    if (!program) ADD_FAILURE() << path << ": " << program.error().message();
    if (!program) std::abort();
    return **program;
  }
  Program& shell(const std::string& script, Duration start = {}) {
    return run_later(host, {"/bin/sh", "-c", script}, start);
  }
  /// Runs the world to its end; false: programs wait for what cannot come.
  bool run_all() {
    (void)world.run();
    return sandbox.all_ended();
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Said& each : said) all.push_back(each.text);
    return all;
  }
  static int exit_status(const Program& program) {
    const int status = program.status().value_or(-1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static int signal_of(const Program& program) {
    const int status = program.status().value_or(0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  std::vector<Said> said;
  std::vector<std::string> remarks;
  World world{1};
  Host& host = world.add_host("host", {"10.0.0.1"});
  Sandbox sandbox{world,
                  {.on_output =
                       [this](const OutputLine& line) {
                         said.push_back({.time = line.time.time_since_epoch(),
                                         .program = std::string(line.program),
                                         .error = line.error,
                                         .text = std::string(line.text)});
                       },
                   .on_remark = [this](std::string_view text) { remarks.emplace_back(text); }}};
};

// --- ends ---------------------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, AProgramsExitStatusIsKept) {
  const Program& program = shell("exit 7");
  EXPECT_FALSE(program.status());

  ASSERT_TRUE(run_all());

  EXPECT_EQ(exit_status(program), 7);
}

TEST_F(ProgramsInTheWorld, AProgramThatDiesOfASignalSaysWhich) {
  const Program& program = shell("kill -SEGV $$");

  ASSERT_TRUE(run_all());

  EXPECT_EQ(signal_of(program), SIGSEGV);
}

TEST_F(ProgramsInTheWorld, AProgramThatIsNotThereIsNotStarted) {
  const auto program = sandbox.start(
      host, "nothing", {.path = "/nowhere/at/all", .arguments = {"all"}, .environment = {}});

  EXPECT_EQ(errno_of(program), ENOENT);
}

TEST_F(ProgramsInTheWorld, AProgramIsEndedByTheSignalOfAnotherAtTheMomentItIsSent) {
  const Program& program =
      shell("sleep 1000 & victim=$!; sleep 5; kill $victim; wait $victim; echo $?");

  ASSERT_TRUE(run_all());

  EXPECT_EQ(exit_status(program), 0);
  ASSERT_THAT(texts(), Contains("143"));
  EXPECT_THAT(said[0].time, AllOf(Ge(5s), Lt(5s + kSlack)));
}

TEST_F(ProgramsInTheWorld, AHandlerRunsAtTheMomentOfItsSignal) {
  shell("trap 'echo handled' USR1; (sleep 3; kill -USR1 $$) & wait; wait; echo over");

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("handled", "over"));
  EXPECT_THAT(said[0].time, AllOf(Ge(3s), Lt(3s + kSlack)));
}

TEST_F(ProgramsInTheWorld, WhoeverOutlivesItsParentIsStillOfTheWorld) {
  shell("(sleep 2; echo orphan) &");

  (void)world.run();

  ASSERT_THAT(texts(), ElementsAre("orphan"));
  EXPECT_THAT(said[0].time, AllOf(Ge(2s), Lt(2s + kSlack)));
}

// --- output -------------------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, LinesComeWithTheTimeAtWhichTheyWereWritten) {
  shell("echo first; sleep 1; echo second >&2; sleep 1; echo third");

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("first", "second", "third"));
  EXPECT_THAT(said[0].time, Lt(kSlack));
  EXPECT_THAT(said[1].time, AllOf(Ge(1s), Lt(1s + kSlack)));
  EXPECT_THAT(said[2].time, AllOf(Ge(2s), Lt(2s + kSlack)));
  EXPECT_FALSE(said[0].error);
  EXPECT_TRUE(said[1].error);
  EXPECT_EQ(said[0].program, "host/program");
}

TEST_F(ProgramsInTheWorld, MoreThanAPipeHoldsComesOutWhole) {
  shell(
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); "
      "done");

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), SizeIs(3000));
}

// --- time ---------------------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, SleepIsVirtual) {
  shell("sleep 864000; date '+%F %T'");

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("2026-01-11 00:00:00"));
  EXPECT_THAT(world.now().time_since_epoch(), AllOf(Ge(240h), Lt(240h + kSlack)));
}

TEST_F(ProgramsInTheWorld, AProgramMayStartLater) {
  shell("echo now");
  shell("echo then", 90s);

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("now", "then"));
  EXPECT_THAT(said[1].time, AllOf(Ge(90s), Lt(90s + kSlack)));
}

TEST_F(ProgramsInTheWorld, TimeoutEndsWhatSleepsTooLong) {
  const Program& program = shell("timeout 30 sleep 60");

  ASSERT_TRUE(run_all());

  EXPECT_EQ(exit_status(program), 124);
  EXPECT_THAT(world.now().time_since_epoch(), AllOf(Ge(30s), Lt(30s + kSlack)));
}

// --- several processes --------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, AParentWaitsForAllItsChildren) {
  shell("(sleep 3; echo c) & (sleep 1; echo a) & (sleep 2; echo b) & wait; echo all");

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("a", "b", "c", "all"));
}

TEST_F(ProgramsInTheWorld, AParentSeesTheStatusOfEachChild) {
  shell("(sleep 2; exit 3) & x=$!; (exit 4) & y=$!; wait $x; echo $?; wait $y; echo $?");

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("3", "4"));
}

TEST_F(ProgramsInTheWorld, APipeCarriesWhatOneWritesToWhoReads) {
  shell("(echo one; sleep 1; echo two) | while read -r line; do echo \"got $line\"; done");

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("got one", "got two"));
  EXPECT_THAT(said[0].time, Lt(kSlack));
  EXPECT_THAT(said[1].time, AllOf(Ge(1s), Lt(1s + kSlack)));
}

TEST_F(ProgramsInTheWorld, AFullPipeHoldsWhoWritesUntilSomebodyReads) {
  shell("(head -c 300000 /dev/zero; echo written >&2) | (sleep 5; wc -c)");

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), SizeIs(2));
  for (const Said& each : said) EXPECT_THAT(each.time, AllOf(Ge(5s), Lt(5s + kSlack))) << each.text;
}

// --- loops ---------------------------------------------------------------------------------------

class WhoComputesForLong : public ProgramsInTheWorld,
                           public ::testing::WithParamInterface<const char*> {};

// It is looked after several times meanwhile, and its registers are the same each time around.
TEST_P(WhoComputesForLong, IsNotTakenForWaiting) {
  run_later(host, {"sim/programs/supervisor/odd", GetParam()});

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("took 200 ns"));
  EXPECT_THAT(remarks, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Loops, WhoComputesForLong,
                         ::testing::Values("count-in-memory", "count-in-a-wide-register"));

/// Whether instructions are replaced.
class WhoReadsTheTimeStampCounter : public ProgramsInTheWorld,
                                    public ::testing::WithParamInterface<bool> {};

TEST_P(WhoReadsTheTimeStampCounter, SeesVirtualTime) {
  if (!GetParam() && !tracee::time_stamps_can_be_forbidden())
    GTEST_SKIP() << "this machine's processor cannot be told to stop who reads it";
  Sandbox other(
      world,
      {.replace_time_stamps = GetParam(),
       .on_output =
           [this](const OutputLine& line) { said.push_back({.text = std::string(line.text)}); },
       .on_remark = [this](std::string_view text) { remarks.emplace_back(text); }});
  const auto program = other.start(host, "odd",
                                   {.path = "sim/programs/supervisor/odd",
                                    .arguments = {"odd", "read-time-stamps"},
                                    .environment = {}});
  ASSERT_TRUE(program);

  (void)world.run();

  EXPECT_THAT(texts(), ElementsAre("200 200 0"));
  EXPECT_EQ(exit_status(**program), 7) << "a signal for another reason is the program's";
  EXPECT_THAT(remarks, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(ByItsProcessorOrByUs, WhoReadsTheTimeStampCounter, ::testing::Bool());

std::vector<std::string> chance_of(std::uint64_t seed) {
  std::vector<std::string> lines;
  World world(seed);
  Host& host = world.add_host("host", {"10.0.0.1"});
  Sandbox sandbox(world,
                  {.on_output = [&](const OutputLine& line) { lines.emplace_back(line.text); }});
  EXPECT_TRUE(sandbox.start(host, "odd",
                            {.path = "sim/programs/supervisor/odd",
                             .arguments = {"odd", "ask-for-chance"},
                             .environment = {}}));
  (void)world.run();
  return lines;
}

TEST(ChanceOfTheProcessor, IsTheWorlds) {
  const std::vector<std::string> first = chance_of(1);

  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0], "111 1 1") << "what else it does to registers and flags";
  EXPECT_EQ(chance_of(1), first);
  EXPECT_NE(chance_of(2), first);
}

// --- processor time -----------------------------------------------------------------------------

// Whatever of it the machine gives the program.
TEST_F(ProgramsInTheWorld, TimersAndLimitsOfProcessorTimeNeverExpireAndAreRemarkedOn) {
  const Program& program = run_later(host, {"sim/programs/supervisor/odd", "arm-processor-timers"});

  ASSERT_TRUE(run_all());

  EXPECT_EQ(exit_status(program), 0);
  EXPECT_THAT(texts(), ElementsAre("still here"));
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("a timer of processor time never expires"),
                                   HasSubstr("a limit of processor time never expires")));
}

// --- named pipes --------------------------------------------------------------------------------

class WhoOpensANamedPipe : public ProgramsInTheWorld {
 protected:
  std::string path = ::testing::TempDir() + "pipe";
  void SetUp() override {
    ::unlink(path.c_str());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  void TearDown() override { ::unlink(path.c_str()); }
};

TEST_F(WhoOpensANamedPipe, ToReadWaitsForAWriter) {
  shell("read -r line <" + path + "; echo got $line");
  shell("exec >" + path + "; sleep 1; echo something", 5s);

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("got something"));
  EXPECT_THAT(said[0].time, AllOf(Ge(6s), Lt(6s + kSlack)));
  EXPECT_THAT(remarks, IsEmpty());
}

TEST_F(WhoOpensANamedPipe, ToWriteWaitsForAReader) {
  shell("exec 3>" + path + "; echo open; echo something >&3");
  shell("exec <" + path + "; sleep 1; read -r line; echo got $line", 5s);

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), ElementsAre("open", "got something"));
  EXPECT_THAT(said[0].time, AllOf(Ge(5s), Lt(5s + kSlack)));
  EXPECT_THAT(said[1].time, AllOf(Ge(6s), Lt(6s + kSlack)));
}

TEST_F(WhoOpensANamedPipe, SeesTheEndOfWhoWasThereForAMomentOnly) {
  shell("cat " + path + "; echo end");
  shell("echo something >" + path, 5s);

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("something", "end"));
}

TEST_F(WhoOpensANamedPipe, IsThereForWhoOpensTheOtherEndWithoutWaiting) {
  shell("cat " + path);
  run_later(
      host,
      {"/usr/bin/python3", "-c",
       "import os; os.write(os.open('" + path + "', os.O_WRONLY | os.O_NONBLOCK), b'here\\n')"},
      5s);

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("here"));
}

TEST_F(WhoOpensANamedPipe, IsInterruptedByASignal) {
  shell("trap 'echo caught; exit' TERM; (sleep 3; kill $$) & read -r line <" + path);

  ASSERT_TRUE(run_all());

  ASSERT_THAT(texts(), Contains("caught"));
  EXPECT_THAT(said.back().time, AllOf(Ge(3s), Lt(3s + kSlack)));
}

TEST_F(WhoOpensANamedPipe, ThatNobodyElseOpensIsReported) {
  shell("read -r line <" + path);

  EXPECT_FALSE(run_all());

  EXPECT_THAT(world.now().time_since_epoch(), Lt(kSlack));
  EXPECT_THAT(world.stuck_report(),
              HasSubstr("host/program waits for the other end of a named pipe to be opened"));
  EXPECT_THAT(world.stuck_report(), HasSubstr("in openat("));
}

// --- ends at once -------------------------------------------------------------------------------

/// The hash of a world in which many threads are killed at the same time. Threads that are ready
/// run in a random order, which depends on the order in which they became ready.
std::uint64_t hash_of_ends(bool of_host) {
  World world(1, {.schedule = {.policy = Policy::kRandom}});
  Host& host = world.add_host("host", {"10.0.0.1"});
  Sandbox sandbox(world, {});
  for (const char* const name : {"one", "other"}) {
    EXPECT_TRUE(sandbox.start(host, name,
                              {.path = "sim/programs/supervisor/odd",
                               .arguments = {"sim/programs/supervisor/odd", "wait-in-many-threads"},
                               .environment = {}}));
  }
  world.run_for(1s);
  if (of_host) {
    EXPECT_TRUE(host.power().crash());
    sandbox.crash(host);
  } else {
    EXPECT_TRUE(sandbox.kill(host, "one", 1));
  }
  world.run_for(1s);
  return world.trace().hash();
}

class ThreadsThatAreKilled : public ::testing::TestWithParam<bool> {};

TEST_P(ThreadsThatAreKilled, EndInTheSameOrderInEachRun) {
  constexpr int kRuns = 8;
  const std::uint64_t first = hash_of_ends(GetParam());

  for (int i = 1; i < kRuns; ++i) EXPECT_EQ(hash_of_ends(GetParam()), first);
}

INSTANTIATE_TEST_SUITE_P(WithProgramOrHost, ThreadsThatAreKilled, ::testing::Bool());

// --- locks --------------------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, LocksWithPriorityInheritanceAreGivenInTurn) {
  run_later(host, {"sim/programs/supervisor/odd", "inherit-priority"});

  ASSERT_TRUE(run_all());

  EXPECT_THAT(
      texts(),
      ElementsAre("first, again: EDEADLK after 0 ms", "second, at once: EBUSY after 0 ms",
                  "second, by date: ETIMEDOUT after 100 ms", "second: ETIMEDOUT after 200 ms",
                  "second: has it after 500 ms", "third: EOWNERDEAD after 600 ms"));
  EXPECT_THAT(remarks, IsEmpty());
}

class WhoDiesWithALock : public ProgramsInTheWorld,
                         public ::testing::WithParamInterface<const char*> {};

TEST_P(WhoDiesWithALock, LeavesItToAnotherProcess) {
  run_later(host, {"sim/programs/supervisor/odd", GetParam()});

  ASSERT_TRUE(run_all());

  EXPECT_THAT(texts(), ElementsAre("heir: EOWNERDEAD after 300 ms"));
}

INSTANTIATE_TEST_SUITE_P(Robust, WhoDiesWithALock,
                         ::testing::Values("inherit-from-the-dead",
                                           "inherit-priority-from-the-dead"));

// --- what cannot go on --------------------------------------------------------------------------

TEST_F(ProgramsInTheWorld, WhoWaitsForEverIsReportedWithItsCall) {
  shell(
      "mkfifo_dir=$(mktemp -d); mkfifo $mkfifo_dir/p; exec 3<>$mkfifo_dir/p; rm -r $mkfifo_dir; "
      "read x <&3");

  EXPECT_FALSE(run_all());

  EXPECT_THAT(world.stuck_report(), HasSubstr("host/program waits for something to read"));
  EXPECT_THAT(world.stuck_report(), HasSubstr("in read(0, "));
}

TEST_F(ProgramsInTheWorld, WhoIsLeftIsKilledWithTheSandbox) {
  {
    World other{1};
    Host& there = other.add_host("there", {"10.0.0.1"});
    Sandbox short_lived(other);
    const auto program = short_lived.start(
        there, "sleep", {.path = "/bin/sleep", .arguments = {"sleep", "100"}, .environment = {}});
    ASSERT_TRUE(program);
    other.run_for(10s);
    EXPECT_FALSE((*program)->status());
  }
  SUCCEED() << "its destructor came back";
}

TEST_F(ProgramsInTheWorld, WhoIsLeftIsKilledWithTheSandboxAtWhateverMomentATickComes) {
  for (int round = 0; round < 100; ++round) {
    World other{1};
    Host& there = other.add_host("there", {"10.0.0.1"});
    Sandbox short_lived(other, {.patience = 50us});
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(short_lived.start(
          there, "sleep", {.path = "/bin/sleep", .arguments = {"sleep", "9"}, .environment = {}}));
    }
    other.run_for(1s);
  }
  SUCCEED() << "each destructor came back";
}

TEST_F(ProgramsInTheWorld, NothingOfAllThisIsWorthARemark) {
  shell("echo a | cat; sleep 1 & wait; date > /dev/null");

  ASSERT_TRUE(run_all());

  EXPECT_THAT(remarks, IsEmpty());
}

TEST_F(ProgramsInTheWorld, ThatWentDownWithTheirHostStartAgainOnlyIfTheyAreTold) {
  Program& program = shell("echo up; sleep 100 & sleep 100; echo down");
  world.run_for(1s);
  ASSERT_TRUE(host.power().crash());
  sandbox.crash(host);
  EXPECT_TRUE(program.crashed());
  EXPECT_EQ(signal_of(program), SIGKILL);
  host.power().restart();
  world.run_for(200s);
  EXPECT_THAT(texts(), ElementsAre("up"));

  ASSERT_TRUE(sandbox.start_again(program));
  EXPECT_FALSE(program.crashed());

  EXPECT_TRUE(run_all());
  EXPECT_THAT(texts(), ElementsAre("up", "up", "down"));
  EXPECT_EQ(exit_status(program), 0);
}

}  // namespace
}  // namespace anyrdma::sim::programs
