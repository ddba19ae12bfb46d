// The contract: same program and seed, same trace.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "sim/testing/life.h"

namespace anyrdma::sim::testing {
namespace {

constexpr std::uint64_t kSeeds = 1000;

TEST(Determinism, AThousandSeedsOfABadNetworkGiveTheSameTraceTwice) {
  std::set<std::uint64_t> hashes;
  std::uint64_t established = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const LifeResult first = run_life(seed);
    const LifeResult second = run_life(seed);

    ASSERT_EQ(first.hash, second.hash) << "seed " << seed;
    ASSERT_EQ(first.packets, second.packets) << "seed " << seed;
    ASSERT_EQ(first.end, second.end) << "seed " << seed;
    EXPECT_TRUE(first.at_rest) << "seed " << seed;
    hashes.insert(first.hash);
    established += first.established ? 1 : 0;
  }
  EXPECT_EQ(hashes.size(), kSeeds);
  EXPECT_GT(established, kSeeds / 2);
}

TEST(Determinism, EverySeedComesToRestUntracedToo) {
  for (std::uint64_t seed = 1; seed <= kSeeds / 10; ++seed) {
    EXPECT_TRUE(run_life(seed, Tracing::kOff).at_rest) << "seed " << seed;
  }
}

TEST(Determinism, TheHashIsTheSameOnEveryCompilerAndOptimisationLevel) {
  std::ifstream file("sim/testdata/golden_hashes.txt");
  std::uint64_t seed = 0;
  std::string golden;
  int count = 0;
  while (file >> seed >> golden) {
    char text[32];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(run_life(seed).hash));
    EXPECT_EQ(text, golden) << "seed " << seed;
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(Determinism, HashingWithoutKeepingIsTheSameHash) {
  EXPECT_EQ(run_life(7, Tracing::kHash).hash, run_life(7, Tracing::kKeep).hash);
}

}  // namespace
}  // namespace anyrdma::sim::testing
