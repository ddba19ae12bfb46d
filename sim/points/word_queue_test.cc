#include "sim/points/word_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace anyrdma::sim {
namespace {

class Words : public testing::Test {
 protected:
  [[nodiscard]] static fault::Question word(std::uint64_t id) {
    return {.kind = fault::Question::Kind::kPosted, .id = id};
  }
  std::vector<std::uint64_t> take_all() {
    std::vector<std::uint64_t> ids;
    while (const auto next = queue->take(place)) ids.push_back(next->id);
    return ids;
  }

  std::unique_ptr<WordQueue> queue = std::make_unique<WordQueue>();
  std::uint64_t place = 0;
};

TEST_F(Words, ComeOutInTheirOrderOnce) {
  EXPECT_TRUE(take_all().empty());
  EXPECT_TRUE(queue->put(word(5)));
  EXPECT_TRUE(queue->put(word(6)));
  EXPECT_EQ(take_all(), (std::vector<std::uint64_t>{5, 6}));
  EXPECT_TRUE(take_all().empty());
}

TEST_F(Words, AreRefusedWhileTheQueueIsFullAndTakenAgainAfterALook) {
  for (unsigned round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < WordQueue::kCapacity; ++i) EXPECT_TRUE(queue->put(word(i)));
    EXPECT_FALSE(queue->put(word(99)));
    EXPECT_EQ(take_all().size(), WordQueue::kCapacity);
  }
}

TEST_F(Words, WaitForOneThatWasBegunBeforeThemAndIsNotWhole) {
  const auto interrupted = queue->claim();
  ASSERT_TRUE(interrupted);
  EXPECT_TRUE(queue->put(word(2)));
  EXPECT_TRUE(take_all().empty());

  queue->fill(*interrupted, word(1));

  EXPECT_EQ(take_all(), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Words, OfAProcessThatWritesAnythingThereEndAllTheSame) {
  const std::unique_ptr<std::byte[]> copy = std::make_unique<std::byte[]>(sizeof(WordQueue));
  for (unsigned garbage : {0x01u, 0x7fu, 0xffu}) {
    std::fill_n(copy.get(), sizeof(WordQueue), static_cast<std::byte>(garbage));
    std::uint64_t from = 0;
    std::uint64_t taken = 0;
    auto& hostile = *reinterpret_cast<WordQueue*>(copy.get());
    while (hostile.take(from)) ++taken;
    EXPECT_LE(taken, WordQueue::kCapacity);
  }
}

}  // namespace
}  // namespace anyrdma::sim
