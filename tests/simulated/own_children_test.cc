// A test that has children, alarms and threads of its own beside the programs of its world.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/machines/running.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;

/// A child process that ends with a status when it is told to.
class Child {
 public:
  explicit Child(int status) {
    EXPECT_EQ(::pipe2(gate_.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    char byte = 0;
    (void)!::read(gate_[0], &byte, 1);
    ::_exit(status);
  }
  ~Child() {
    ::close(gate_[0]);
    ::close(gate_[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Ends it, and returns when its status can be fetched.
  void end() const {
    EXPECT_EQ(::write(gate_[1], "g", 1), 1);
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
  }

 private:
  std::array<int, 2> gate_{};
  pid_t pid_ = -1;
};

int status_of(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -errno;
  return WEXITSTATUS(status);
}

class TestsOwn : public ::testing::Test {
 protected:
  /// A program that makes processes.
  RunningProgram& busy() {
    return remote.start({"/bin/sh", "-c", "for i in 1 2 3 4 5; do /bin/true; sleep 1; done"});
  }
  /// Does something in the test's own process while the program runs.
  void meanwhile(std::function<void()> act) {
    host.spawn("meanwhile", [this, act = std::move(act)] {
      host.sleep(2500ms);
      act();
    });
  }

  World world{1};
  Host& host = world.add_host("local", {"10.0.0.1"});
  Programs programs{world};
  ProgramHost& remote = programs.add_host("remote", {"10.0.0.3"});
};

TEST_F(TestsOwn, ChildrenKeepTheirStatusWheneverTheyEnd) {
  const Child before(3);
  const Child during(4);
  const Child after(5);
  before.end();
  const RunningProgram& program = busy();
  meanwhile([&] { during.end(); });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(program.exit_status(), 0);
  after.end();
  EXPECT_EQ(status_of(during.pid()), 4);
  EXPECT_EQ(status_of(before.pid()), 3);
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, 0), after.pid());
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_EQ(::waitpid(-1, &status, 0), -1) << "nobody else is the test's";
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(TestsOwn, PipeToACommandIsClosedWithItsStatus) {
  FILE* const command = ::popen("read -r line; exit 6", "w");
  ASSERT_NE(command, nullptr);
  const RunningProgram& program = busy();
  int inside = 0;
  meanwhile([&] {
    std::fputs("go\n", command);
    std::fflush(command);
    inside = ::pclose(::popen("exit 7", "r"));
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(program.exit_status(), 0);
  EXPECT_EQ(WEXITSTATUS(inside), 7);
  EXPECT_EQ(WEXITSTATUS(::pclose(command)), 6);
}

TEST_F(TestsOwn, ThreadsHaveChildren) {
  const RunningProgram& program = busy();  // before there are other threads: docs/testing.md
  std::atomic<bool> over = false;
  std::vector<int> wrong;
  std::thread beside([&] {
    constexpr int kAtLeast = 20;
    for (int i = 0; i < kAtLeast || !over; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) ::_exit(9);
      if (const int status = status_of(pid); status != 9) wrong.push_back(status);
    }
  });
  EXPECT_TRUE(programs.run()) << programs.stuck_report();

  over = true;
  beside.join();
  EXPECT_EQ(program.exit_status(), 0);
  EXPECT_THAT(wrong, ::testing::IsEmpty());
}

std::atomic<int> alarms = 0;

void on_alarm(int /*signal*/) {
  ++alarms;
}

/// Waits in real time.
bool heard_alarm(int before) {
  const auto end = std::chrono::steady_clock::now() + 120s;
  while (alarms == before && std::chrono::steady_clock::now() < end) continue;
  return alarms != before;
}

class TestsOwnAlarm : public TestsOwn {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = on_alarm;
    ASSERT_EQ(::sigaction(SIGALRM, &action, &before_), 0);
  }
  void TearDown() override {
    constexpr itimerval kNever{};
    ::setitimer(ITIMER_REAL, &kNever, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  static void arm() {
    constexpr itimerval kSoon{.it_interval = {0, 0}, .it_value = {0, 1000}};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &kSoon, nullptr), 0);
  }

 private:
  struct sigaction before_ {};
};

TEST_F(TestsOwnAlarm, ComesDuringARunAndAfterIt) {
  const RunningProgram& program = busy();
  const int before = alarms;
  bool heard = false;
  meanwhile([&] {
    arm();
    heard = heard_alarm(before);
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(program.exit_status(), 0);
  EXPECT_TRUE(heard);
  EXPECT_EQ(alarms, before + 1) << "there is no other alarm";
  struct sigaction action {};
  ASSERT_EQ(::sigaction(SIGALRM, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, on_alarm);
  const int during = alarms;
  arm();
  EXPECT_TRUE(heard_alarm(during));
}

TEST_F(TestsOwnAlarm, ThatWasSetBeforeTheRunRemainsSet) {
  ::alarm(100);
  const RunningProgram& program = busy();

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(program.exit_status(), 0);
  EXPECT_GT(::alarm(0), 0U);
}

TEST_F(TestsOwn, WaitsInRealTimeAreNotInterruptedBetweenRuns) {
  const RunningProgram& program = busy();
  world.run_for(2s);

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(::poll(nullptr, 0, 30), 0) << std::strerror(errno);
    host.sleep(100ms);
  }

  EXPECT_FALSE(program.ended());
  ASSERT_TRUE(programs.run()) << programs.stuck_report();
  EXPECT_EQ(program.exit_status(), 0);
}

TEST_F(TestsOwn, FibersWaitInRealTimeWithoutInterruption) {
  constexpr int kWaits = 10;
  // Its system calls take virtual time, so the fiber runs between them.
  const RunningProgram& program = remote.start(
      {"/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=10000", "status=none"});
  int waits = 0;
  int interrupted = 0;
  host.spawn("waiting", [&] {
    for (; waits < kWaits && !program.ended(); ++waits) {
      host.sleep(100us);
      if (::poll(nullptr, 0, 20) != 0) ++interrupted;
    }
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(waits, kWaits) << "the program has ended before";
  EXPECT_EQ(interrupted, 0);
  EXPECT_EQ(program.exit_status(), 0);
}

TEST_F(TestsOwn, ExceptionsReachWhoRanTheWorldWhichGoesOn) {
  const RunningProgram& program = busy();
  const auto throws = [this] {
    if (world.now().time_since_epoch() > 2s) throw std::runtime_error("the test's");
    return false;
  };

  EXPECT_THROW((void)world.run_until(throws), std::runtime_error);

  EXPECT_FALSE(program.ended());
  ASSERT_TRUE(programs.run()) << programs.stuck_report();
  EXPECT_EQ(program.exit_status(), 0);
}

/// Runs a world with programs, and returns the hash of its trace.
std::uint64_t hash_of_a_world() {
  World world(7);
  Programs programs(world);
  ProgramHost& host = programs.add_host("host", {"10.0.0.1"});
  std::vector<RunningProgram*> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(&host.start({"/bin/sh", "-c", "for i in 1 2 3; do (exit 3); sleep 1; done"}));
  EXPECT_TRUE(programs.run()) << programs.stuck_report();
  for (const RunningProgram* const each : all) EXPECT_EQ(each->exit_status(), 0) << each->output();
  return world.trace().hash();
}

TEST(WorldsWithPrograms, RunOneAfterTheOther) {
  const std::uint64_t hash = hash_of_a_world();
  EXPECT_EQ(hash_of_a_world(), hash);
  std::uint64_t in_another_thread = 0;
  std::thread([&in_another_thread] { in_another_thread = hash_of_a_world(); }).join();
  EXPECT_EQ(in_another_thread, hash);
}

}  // namespace
}  // namespace anyrdma::sim
