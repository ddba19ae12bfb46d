#include "verbs/timer_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace anyrdma::verbs {
namespace {

constexpr Instant at(std::int64_t nanoseconds) {
  return Instant(Duration(nanoseconds));
}

TEST(TimerQueue, HasNoDeadlineWhenEmpty) {
  TimerQueue<int> queue;
  EXPECT_EQ(queue.next_deadline(), std::nullopt);
  EXPECT_EQ(queue.next_expired(at(1'000)), nullptr);
}

TEST(TimerQueue, ExpiresInOrderOfTimeThenOfArming) {
  TimerQueue<int> queue;
  Timer<int> a(1), b(2), c(3);
  queue.arm(a, at(20));
  queue.arm(b, at(10));
  queue.arm(c, at(10));

  std::vector<int> order;
  while (Timer<int>* timer = queue.next_expired(at(20))) order.push_back(timer->tag());

  EXPECT_EQ(order, (std::vector<int>{2, 3, 1}));
}

TEST(TimerQueue, KeepsATimerThatIsNotDue) {
  TimerQueue<int> queue;
  Timer<int> a(1);
  queue.arm(a, at(20));
  EXPECT_EQ(queue.next_expired(at(19)), nullptr);
  EXPECT_TRUE(a.armed());
  EXPECT_EQ(queue.next_expired(at(20)), &a);
  EXPECT_FALSE(a.armed());
}

TEST(TimerQueue, MovesAnArmedTimer) {
  TimerQueue<int> queue;
  Timer<int> a(1), b(2);
  queue.arm(a, at(10));
  queue.arm(b, at(20));

  queue.arm(a, at(30));

  EXPECT_EQ(queue.next_deadline(), at(20));
  EXPECT_EQ(queue.deadline(a), at(30));
  queue.cancel(a);
  queue.cancel(b);
}

TEST(TimerQueue, CancelsFromTheMiddle) {
  TimerQueue<int> queue;
  Timer<int> a(1), b(2), c(3);
  queue.arm(a, at(10));
  queue.arm(b, at(20));
  queue.arm(c, at(30));

  queue.cancel(b);
  queue.cancel(b);

  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.next_expired(at(30)), &a);
  EXPECT_EQ(queue.next_expired(at(30)), &c);
}

TEST(TimerQueue, AgreesWithASortedListOverManyOperations) {
  TimerQueue<int> queue;
  std::vector<std::unique_ptr<Timer<int>>> timers;
  for (int i = 0; i < 50; ++i) timers.push_back(std::make_unique<Timer<int>>(i));
  std::vector<std::pair<Instant, int>> model;  // in order of arming
  std::uint64_t state = 1;
  auto draw = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  for (int step = 0; step < 5'000; ++step) {
    const int i = static_cast<int>(draw(50));
    Timer<int>& timer = *timers[static_cast<std::size_t>(i)];
    std::erase_if(model, [i](const auto& entry) { return entry.second == i; });
    if (draw(4) == 0) {
      queue.cancel(timer);
    } else {
      const Instant when = at(static_cast<std::int64_t>(draw(100)));
      queue.arm(timer, when);
      model.emplace_back(when, i);
    }
  }
  std::stable_sort(model.begin(), model.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });

  std::vector<std::pair<Instant, int>> seen;
  while (auto due = queue.next_deadline()) seen.emplace_back(*due, queue.next_expired(*due)->tag());

  EXPECT_EQ(seen, model);
}

}  // namespace
}  // namespace anyrdma::verbs
