// As many connections as a large server has, all at once in one process.
#include <gtest/gtest.h>

#include <cstdio>

#include "sim/sanitizer_fiber.h"
#include "sim/testing/crowd.h"

namespace anyrdma::sim::testing {
namespace {

constexpr std::uint32_t kManyConnections = 100'000;
constexpr std::uint16_t kManyPorts = 4;  // of 28,232 ephemeral ports towards each, 25,000 are used

#if defined(ANYRDMA_ASAN_FIBERS) || defined(ANYRDMA_TSAN_FIBERS)
constexpr std::uint32_t kUnderSanitizers = 5'000;
#else
constexpr std::uint32_t kUnderSanitizers = kManyConnections;
#endif

TEST(Scale, AHundredThousandConnectionsComeUpExchangeAMessageAndGoDown) {
  if (kUnderSanitizers != kManyConnections) {
    std::printf("%u connections only: sanitizers take ten times as long\n", kUnderSanitizers);
  }

  const CrowdResult result = run_crowd({.connections = kUnderSanitizers, .ports = kManyPorts});

  EXPECT_TRUE(result.at_rest);
  EXPECT_EQ(result.up, kUnderSanitizers);
  EXPECT_EQ(result.answered, kUnderSanitizers);
  EXPECT_EQ(result.down, kUnderSanitizers);
}

TEST(Scale, ManyConnectionsAreAsDeterministicAsOne) {
  const CrowdPlan plan{.connections = 500, .tracing = Tracing::kHash};

  EXPECT_EQ(run_crowd(plan).hash, run_crowd(plan).hash);
}

}  // namespace
}  // namespace anyrdma::sim::testing
