#include "sim/tracee/one_processor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

namespace anyrdma::sim::tracee {
namespace {

cpu_set_t allowed(pid_t thread = 0) {
  cpu_set_t set{};
  EXPECT_EQ(::sched_getaffinity(thread, sizeof set, &set), 0);
  return set;
}

bool same(const cpu_set_t& a, const cpu_set_t& b) {
  return CPU_EQUAL(&a, &b) != 0;
}

class OneProcessorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CPU_COUNT(&before_) < 2)
      GTEST_SKIP() << "this machine lets the test use one processor only";
  }

  cpu_set_t before_ = allowed();
};

TEST_F(OneProcessorTest, KeepsTheThreadToOneAndLetsItGo) {
  {
    const OneProcessor one;
    const cpu_set_t now = allowed();
    EXPECT_EQ(CPU_COUNT(&now), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(::sched_getcpu()), &now));
  }
  EXPECT_TRUE(same(allowed(), before_));
}

TEST_F(OneProcessorTest, MovesTheThreadAndThoseThatItIsTold) {
  std::optional<OneProcessor> one(std::in_place);
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(end.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::close(end[1]);
    char none;
    (void)!::read(end[0], &none, 1);
    ::_exit(0);
  }
  const cpu_set_t first = allowed();
  EXPECT_TRUE(same(allowed(child), first)) << "what it starts is kept to it, too";

  one->move(std::array{child});
  const cpu_set_t second = allowed();
  EXPECT_EQ(CPU_COUNT(&second), 1);
  EXPECT_FALSE(same(second, first));
  EXPECT_TRUE(same(allowed(child), second));

  // In the end it has been to all of them.
  for (int i = 1; i < CPU_COUNT(&before_); ++i) one->move({});
  EXPECT_TRUE(same(allowed(), first));
  (void)::close(end[1]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// Two that want all of one processor: each waits for half of the time.
TEST_F(OneProcessorTest, NoticesWhoeverElseIsThere) {
  OneProcessor one;
  std::atomic<bool> over{false};
  std::thread other([&over] {
    while (!over.load(std::memory_order_relaxed)) continue;
  });
  while (!one.is_crowded()) continue;
  over = true;
  other.join();
}

TEST_F(OneProcessorTest, LeavesAloneWhoMayUseOneOnly) {
  cpu_set_t single{};
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &single);
  ASSERT_EQ(::sched_setaffinity(0, sizeof single, &single), 0);
  {
    OneProcessor one;
    EXPECT_FALSE(one.is_crowded());
  }
  EXPECT_TRUE(same(allowed(), single));
  ASSERT_EQ(::sched_setaffinity(0, sizeof before_, &before_), 0);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
