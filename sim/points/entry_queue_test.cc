#include "sim/points/entry_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace anyrdma::sim {
namespace {

using Got = EntryQueue::Got;
using Bytes = std::vector<std::uint8_t>;

class Entries : public testing::Test {
 protected:
  [[nodiscard]] static Bytes entry(std::size_t size, std::uint8_t value) {
    return Bytes(size, value);
  }
  Got take(Bytes& bytes) {
    std::array<std::uint8_t, EntryQueue::kEntryBytesMax> copy{};
    std::size_t size = 0;
    const Got got = queue->take(place, copy, size);
    bytes.assign(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(size));
    return got;
  }
  std::vector<Bytes> take_all() {
    std::vector<Bytes> all;
    Bytes next;
    while (take(next) == Got::kEntry) all.push_back(next);
    return all;
  }

  std::unique_ptr<EntryQueue> queue = std::make_unique<EntryQueue>();
  std::uint64_t place = 0;
};

TEST_F(Entries, ComeOutInTheirOrderOnce) {
  EXPECT_TRUE(take_all().empty());
  EXPECT_TRUE(queue->put(entry(5, 1)));
  EXPECT_TRUE(queue->put(entry(9, 2)));
  EXPECT_EQ(take_all(), (std::vector<Bytes>{entry(5, 1), entry(9, 2)}));
  EXPECT_TRUE(take_all().empty());
}

TEST_F(Entries, AreRefusedWhileTheQueueIsFullAndTakenAgainAfterALook) {
  for (std::uint8_t round = 0; round < 5; ++round) {
    std::size_t put = 0;
    while (queue->put(entry(700 + round, round))) ++put;
    EXPECT_GT(put, 80u);
    const std::vector<Bytes> taken = take_all();
    ASSERT_EQ(taken.size(), put);
    for (const Bytes& each : taken) EXPECT_EQ(each, entry(700 + round, round));
  }
}

TEST_F(Entries, OfAnyLengthPassTheEndOfTheRing) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const Bytes sent =
        entry(1 + random() % EntryQueue::kEntryBytesMax, static_cast<std::uint8_t>(i));
    ASSERT_TRUE(queue->put(sent)) << i;
    Bytes got;
    ASSERT_EQ(take(got), Got::kEntry) << i;
    ASSERT_EQ(got, sent) << i;
  }
}

TEST_F(Entries, WaitForOneThatWasBegunBeforeThemAndIsNotWhole) {
  const auto interrupted = queue->claim(3);
  ASSERT_TRUE(interrupted);
  EXPECT_TRUE(queue->put(entry(2, 2)));
  EXPECT_TRUE(take_all().empty());

  queue->fill(*interrupted, entry(3, 1));

  EXPECT_EQ(take_all(), (std::vector<Bytes>{entry(3, 1), entry(2, 2)}));
}

TEST_F(Entries, ThatAreEmptyOrTooLongAreRefused) {
  EXPECT_FALSE(queue->put({}));
  EXPECT_FALSE(queue->put(entry(EntryQueue::kEntryBytesMax + 1, 1)));
  EXPECT_TRUE(queue->put(entry(EntryQueue::kEntryBytesMax, 1)));
}

TEST_F(Entries, OfAProcessThatWritesAnythingThereEndAllTheSame) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    auto* const bytes = reinterpret_cast<std::uint64_t*>(queue.get());
    for (std::size_t i = 0; i < sizeof(EntryQueue) / sizeof(std::uint64_t); ++i) {
      const std::uint64_t any = random();
      bytes[i] = any % 4 == 0 ? any : any % 64;
    }
    place = random() % (EntryQueue::kBytes * 3) / 8 * 8;
    EXPECT_LE(take_all().size(), EntryQueue::kBytes / 8);
  }
}

}  // namespace
}  // namespace anyrdma::sim
