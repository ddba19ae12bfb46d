#include "sim/schedule/random_stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/world.h"

namespace anyrdma::sim {
namespace {

// Computed by another program from the same definitions.
constexpr std::uint64_t kFirst = 3904836010846530116;
constexpr std::uint64_t kSecond = 11251390657411349933u;

std::vector<std::uint64_t> draw(RandomStream& stream, int count = 16) {
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(stream.next());
  return numbers;
}

TEST(RandomStreams, GiveTheSameNumbersOnEveryMachine) {
  RandomStream stream(1, "example");

  EXPECT_EQ(stream.next(), kFirst);
  EXPECT_EQ(stream.next(), kSecond);
}

TEST(RandomStreams, DifferBySeedAndByName) {
  RandomStream a(1, "a");
  RandomStream b(1, "b");
  RandomStream other(2, "a");
  const auto numbers = draw(a);

  EXPECT_NE(numbers, draw(b));
  EXPECT_NE(numbers, draw(other));
}

TEST(RandomStreams, GoOnAsThoseOfAnotherSeedFromABranchOn) {
  Seeds seeds(1, {{.until = 5, .seed = 2}, {.until = 7, .seed = 3}});
  RandomStream stream(seeds, "a");
  const auto of = [](std::uint64_t seed) {
    RandomStream plain(seed, "a");
    return draw(plain);
  };

  seeds.reach(4);
  EXPECT_EQ(draw(stream), of(1));
  seeds.reach(5);
  EXPECT_EQ(draw(stream), of(2));
  RandomStream later(seeds, "a");
  EXPECT_EQ(draw(later), of(2));
  seeds.reach(9);
  EXPECT_EQ(draw(stream), of(3));
  EXPECT_EQ(seeds.taken(), 2u);
}

TEST(RandomStreams, OfAWorldDoNotShiftEachOther) {
  World alone(1);
  const auto expected = draw(alone.random("mine"));
  World crowded(1);
  (void)crowded.add_host("host", {"192.0.2.1"});
  (void)draw(crowded.random("another"), 100);

  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 16; ++i) {
    numbers.push_back(crowded.random("mine").next());
    (void)crowded.random("another").next();
  }

  EXPECT_EQ(numbers, expected);
}

TEST(RandomStreams, DrawNothingForWhatNeverHappens) {
  RandomStream a(1, "a");
  RandomStream b(1, "a");

  EXPECT_FALSE(a.chance(0));

  EXPECT_EQ(a.next(), b.next());
}

TEST(RandomStreams, HitAProbabilityAsOftenAsItSays) {
  RandomStream stream(1, "dice");
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += stream.chance(0.25) ? 1 : 0;

  EXPECT_NEAR(hits, 2500, 150);
}

}  // namespace
}  // namespace anyrdma::sim
