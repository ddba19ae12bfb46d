// The containers in which checkers keep what they must not forget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <set>

#include "check/fifo.h"
#include "check/number_set.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAreArray;

TEST(FifoTest, HoldsWhatADequeWouldHold) {
  std::mt19937 random(7);
  Fifo<int> fifo;
  std::deque<int> model;
  for (int step = 0; step < 20'000; ++step) {
    const auto drawn = random() % 16;
    if (drawn < 8) {
      fifo.push_back(step);
      model.push_back(step);
    } else if (drawn < 13 && !model.empty()) {
      EXPECT_EQ(fifo.front(), model.front());
      fifo.pop_front();
      model.pop_front();
    } else if (drawn == 13 && !model.empty()) {
      const auto at = static_cast<std::ptrdiff_t>(random() % model.size());
      fifo.erase(fifo.begin() + at);
      model.erase(model.begin() + at);
    } else if (drawn == 14) {
      const auto count = static_cast<std::ptrdiff_t>(random() % (model.size() + 1));
      fifo.erase_before(fifo.begin() + count);
      model.erase(model.begin(), model.begin() + count);
    } else if (random() % 100 == 0) {
      fifo.clear();
      model.clear();
    }
    ASSERT_EQ(fifo.size(), model.size());
    ASSERT_EQ(fifo.empty(), model.empty());
    ASSERT_THAT(std::vector<int>(fifo.begin(), fifo.end()), ElementsAreArray(model));
  }
}

TEST(NumberSetTest, HoldsWhatASetWouldHold) {
  std::mt19937 random(7);
  NumberSet numbers;
  std::set<std::uint64_t> model;
  for (int step = 0; step < 2'000; ++step) {
    const std::uint64_t number = random() % 1'000;
    numbers.insert(number);
    model.insert(number);
    const std::uint64_t other = random() % 1'000;
    ASSERT_EQ(numbers.contains(other), model.contains(other)) << other;
  }
  for (std::uint64_t each = 0; each < 1'001; ++each)
    EXPECT_EQ(numbers.contains(each), model.contains(each)) << each;
}

TEST(NumberSetTest, KeepsConsecutiveNumbersAsOneRange) {
  NumberSet numbers;
  for (const std::uint64_t each : {3u, 1u, 2u, 9u, 5u, 4u, 1u}) numbers.insert(each);
  EXPECT_EQ(numbers.ranges(), 2u);
  numbers.insert(UINT64_MAX);
  EXPECT_TRUE(numbers.contains(UINT64_MAX));
  EXPECT_FALSE(numbers.contains(0));
}

}  // namespace
}  // namespace anyrdma::check
