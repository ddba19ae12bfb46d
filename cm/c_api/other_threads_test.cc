#include "cm/c_api/other_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <latch>
#include <semaphore>
#include <thread>

namespace anyrdma::c_api {
namespace {

using namespace std::chrono_literals;

constexpr auto kShare = 5ms;

std::chrono::nanoseconds own_processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(OtherThreads, HaveHadTheirChanceWhenThereAreNone) {
  EXPECT_TRUE(OtherThreads().had_their_chance(kShare));
}

TEST(OtherThreads, HaveHadTheirChanceOnceTheySleep) {
  std::latch asleep{2};
  std::binary_semaphore end{0};
  std::thread other([&] {
    asleep.count_down();
    end.acquire();
  });
  asleep.arrive_and_wait();
  const OtherThreads others;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  bool slept = false;
  while (!slept && std::chrono::steady_clock::now() < deadline) slept = others.had_their_chance(1h);
  EXPECT_TRUE(slept);
  end.release();
  other.join();
}

// However long it takes until a processor is free for it.
TEST(OtherThreads, HaveNotHadTheirChanceWhileTheyWorkForLessThanTheirShare) {
  std::atomic<bool> told = false;
  std::chrono::nanoseconds begun{};
  std::chrono::nanoseconds ended{};
  std::latch running{2};
  std::thread other([&] {
    begun = own_processor_time();
    running.count_down();
    while (!told) {
    }
    ended = own_processor_time();
  });
  running.arrive_and_wait();
  const OtherThreads others;
  EXPECT_FALSE(others.had_their_chance(1h));
  while (!others.had_their_chance(kShare)) {
  }
  told = true;
  other.join();
  EXPECT_GE(ended - begun, kShare);
}

}  // namespace
}  // namespace anyrdma::c_api
