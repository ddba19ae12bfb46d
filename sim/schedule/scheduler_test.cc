// Virtual time, tasks, fibers and semaphores by themselves.
#include "sim/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

#include "sim/schedule/semaphore.h"

namespace anyrdma::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr std::size_t kStack = std::size_t{64} * 1024;

/// Writes its name into a log.
class Logged final : public Task {
 public:
  Logged(std::vector<int>& log, int name) : log_(log), name_(name) {}

 private:
  void run() override { log_.push_back(name_); }
  std::vector<int>& log_;
  int name_;
};

class SchedulerTest : public ::testing::Test {
 protected:
  void spawn(std::string name, std::function<void()> body) {
    scheduler.fibers().spawn(std::move(name), Ending::kMustEnd, std::move(body));
  }
  void run() {
    while (scheduler.step()) continue;
  }

  Scheduler scheduler{kStack};
  std::vector<int> log;
};

TEST_F(SchedulerTest, RunsTasksInTheOrderOfTimeThenOfArming) {
  Logged a(log, 1);
  Logged b(log, 2);
  Logged c(log, 3);
  scheduler.at(a, Instant(seconds(2)));
  scheduler.at(b, Instant(seconds(1)));
  scheduler.at(c, Instant(seconds(1)));

  run();

  EXPECT_THAT(log, ElementsAre(2, 3, 1));
  EXPECT_EQ(scheduler.now(), Instant(seconds(2)));
  EXPECT_EQ(scheduler.events(), 3u);
}

TEST_F(SchedulerTest, ACancelledTaskNeitherRunsNorMovesTheClock) {
  Logged a(log, 1);
  scheduler.at(a, Instant(seconds(1)));
  scheduler.cancel(a);

  run();

  EXPECT_TRUE(log.empty());
  EXPECT_EQ(scheduler.now(), Instant());
}

TEST_F(SchedulerTest, TimeMayBeSkippedUntilTheNextTask) {
  EXPECT_EQ(scheduler.quiet_until(), Scheduler::kNever);
  Logged a(log, 1);
  Logged b(log, 2);
  scheduler.at(a, Instant(seconds(2)));
  scheduler.at(b, Instant(seconds(1)));
  ASSERT_EQ(scheduler.quiet_until(), Instant(seconds(1)));

  scheduler.skip_to(scheduler.quiet_until());

  EXPECT_TRUE(log.empty());
  run();
  EXPECT_THAT(log, ElementsAre(2, 1));
}

TEST_F(SchedulerTest, DoesNotPassItsLimit) {
  Logged a(log, 1);
  scheduler.at(a, Instant(seconds(2)));

  EXPECT_FALSE(scheduler.step(Instant(seconds(1))));
  EXPECT_EQ(scheduler.now(), Instant());
  run();
}

TEST_F(SchedulerTest, KnowsWhetherItsLimitCameOrNothingWasLeft) {
  EXPECT_FALSE(scheduler.anything_left());
  Logged late(log, 1);
  scheduler.at(late, Instant(seconds(5)));

  EXPECT_FALSE(scheduler.step(Instant(seconds(1))));
  EXPECT_TRUE(scheduler.anything_left());

  EXPECT_TRUE(scheduler.step());
  EXPECT_FALSE(scheduler.anything_left());
  spawn("ready", [] {});
  EXPECT_TRUE(scheduler.anything_left());
  run();
}

TEST_F(SchedulerTest, ReadyFibersRunBeforeTheClockMoves) {
  Logged a(log, 9);
  scheduler.at(a, Instant());
  spawn("first", [&] {
    log.push_back(1);
    EXPECT_TRUE(scheduler.idle_until(Instant(seconds(1))));
    log.push_back(3);
  });
  spawn("second", [&] { log.push_back(2); });

  run();

  EXPECT_THAT(log, ElementsAre(1, 2, 9, 3));
  EXPECT_EQ(scheduler.now(), Instant(seconds(1)));
}

TEST_F(SchedulerTest, AThousandFibersShareTheThread) {
  for (int i = 0; i < 1000; ++i) {
    spawn("sleeper", [this, i] {
      EXPECT_TRUE(scheduler.idle_until(Instant(seconds(1000 - i))));
      log.push_back(i);
    });
  }

  run();

  ASSERT_EQ(log.size(), 1000u);
  EXPECT_EQ(log.front(), 999);
  EXPECT_EQ(log.back(), 0);
}

TEST_F(SchedulerTest, SemaphoresServeTheFirstComeFirst) {
  Semaphore semaphore(scheduler);
  for (int i = 0; i < 3; ++i) {
    spawn("waiter", [&, i] {
      EXPECT_TRUE(semaphore.wait());
      log.push_back(i);
    });
  }
  spawn("poster", [&] {
    semaphore.post();
    semaphore.post();
    EXPECT_TRUE(scheduler.idle_until(Instant(seconds(1))));
    EXPECT_THAT(log, ElementsAre(0, 1));
    semaphore.post();
  });

  run();

  EXPECT_THAT(log, ElementsAre(0, 1, 2));
  EXPECT_FALSE(semaphore.try_wait());
}

TEST_F(SchedulerTest, WaitingOutsideOfFibersLetsTheWorldGoOn) {
  Semaphore semaphore(scheduler);
  spawn("poster", [&] {
    EXPECT_TRUE(scheduler.idle_until(Instant(seconds(5))));
    semaphore.post();
  });

  EXPECT_TRUE(semaphore.wait());
  EXPECT_EQ(scheduler.now(), Instant(seconds(5)));
}

TEST_F(SchedulerTest, WaitingForWhatCanNeverHappenIsADeadlock) {
  Semaphore semaphore(scheduler);

  EXPECT_EQ(semaphore.wait().error().value(), EDEADLK);
}

TEST_F(SchedulerTest, AParkedFiberIsToldWhenItAllEnds) {
  Semaphore semaphore(scheduler);
  int error = 0;
  spawn("waiter", [&] { error = semaphore.wait().error().value(); });
  run();
  ASSERT_EQ(scheduler.fibers().all().size(), 1u);
  EXPECT_STREQ(scheduler.fibers().all().front()->purpose(), "a semaphore");

  scheduler.fibers().close();

  EXPECT_EQ(error, EDEADLK);
  EXPECT_TRUE(scheduler.fibers().all().empty());
}

TEST_F(SchedulerTest, AnExceptionOfABodyComesOutOfTheStepThatRanIt) {
  spawn("thrower", [] { throw std::runtime_error("so it goes"); });

  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_TRUE(scheduler.fibers().all().empty());
}

TEST_F(SchedulerTest, APollerSeesEveryThingThatHappens) {
  Logged a(log, 1);
  Logged b(log, 2);
  scheduler.at(a, Instant(seconds(1)));
  scheduler.at(b, Instant(seconds(2)));
  int polls = 0;
  spawn("poller", [&] {
    for (; log.size() < 2; ++polls) scheduler.poll();
  });

  run();

  EXPECT_EQ(polls, 2);
}

TEST_F(SchedulerTest, PollingForNothingTakesAMicrosecondEach) {
  spawn("poller", [&] {
    for (int i = 0; i < 10; ++i) scheduler.poll();
  });

  run();

  EXPECT_EQ(scheduler.now(), Instant(microseconds(10)));
}

TEST_F(SchedulerTest, PollingForWhatCanNeverHappenEnds) {
  bool happened = false;
  spawn("poller", [&] {
    for (int i = 0; !happened && i < 100'000; ++i) scheduler.poll();
  });

  run();  // at once, and not after an hour of microseconds

  ASSERT_EQ(scheduler.fibers().all().size(), 1u);
  EXPECT_TRUE(scheduler.fibers().all().front()->parked());
  EXPECT_EQ(scheduler.fibers().all().front()->since(), Instant{});
  EXPECT_LT(scheduler.now(), Instant(seconds(3700)));
  happened = true;
  scheduler.fibers().close();
}

}  // namespace
}  // namespace anyrdma::sim
