// As many connections as a large server has, all at once in one process.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/schedule/sanitizer_fiber.h"
#include "sim/testing/crowd.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kManyConnections = 100'000;
constexpr std::uint16_t kManyPorts = 4;  // of 28,232 ephemeral ports towards each, 25,000 are used

#if defined(ANYRDMA_ASAN_FIBERS) || defined(ANYRDMA_TSAN_FIBERS)
constexpr std::uint32_t kUnderSanitizers = 2'000;
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

/// Ids of one channel, none of whose events is fetched. They go last in, first out: whoever
/// searched a queue for what is theirs would walk all of it each time.
class CrowdOfIds : public ::testing::Test {
 protected:
  static constexpr std::size_t kIds = 20'000;

  void start() {
    const sockaddr_storage peer = server_.address(7471).to_sockaddr();
    for (std::size_t i = 0; i < kIds; ++i) {
      ids_.push_back(cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value());
      ids_.back()->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 2s).value();
    }
  }
  void destroy_all() {
    while (!ids_.empty()) {
      EXPECT_TRUE(cm::Id::destroy(std::move(ids_.back())).has_value());
      ids_.pop_back();
    }
    EXPECT_EQ(client_.ports().size(), 0u);
  }

  World world_{1, {.tracing = Tracing::kOff}};
  Host& server_ = world_.add_host("server", {"10.0.0.1"});
  Host& client_ = world_.add_host("client", {"10.0.0.2"});
  std::unique_ptr<cm::EventChannel> channel_ =
      cm::EventChannel::create(client_.transport()).value();
  std::vector<std::unique_ptr<cm::Id>> ids_;
};

TEST_F(CrowdOfIds, GoesInAnyOrderWhileTheNeighbourIsAsked) {
  start();

  destroy_all();

  world_.run_for(1s);
  EXPECT_FALSE(channel_->try_get().has_value());
}

TEST_F(CrowdOfIds, GoesInAnyOrderWithItsEventsUnfetched) {
  start();
  world_.run_for(1s);

  destroy_all();

  EXPECT_FALSE(channel_->try_get().has_value());
}

TEST_F(CrowdOfIds, HasNoMorePortsTowardsOneDestinationThanLinux) {
  constexpr std::size_t kEphemeralPorts = 60999 - 32768 + 1;
  const sockaddr_storage peer = server_.address(7471).to_sockaddr();
  const auto* full = reinterpret_cast<const sockaddr*>(&peer);
  const sockaddr_storage other = server_.address(7472).to_sockaddr();
  const auto* free = reinterpret_cast<const sockaddr*>(&other);
  for (std::size_t i = 0; i < kEphemeralPorts; ++i) {
    ids_.push_back(cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value());
    ASSERT_TRUE(ids_.back()->resolve_addr(nullptr, full, 2s).has_value()) << i;
  }

  auto id = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();

  EXPECT_EQ(id->resolve_addr(nullptr, full, 2s).error().value(), EADDRNOTAVAIL);
  EXPECT_TRUE(id->resolve_addr(nullptr, free, 2s).has_value());
}

TEST(Scale, ManyConnectionsAreAsDeterministicAsOne) {
  const CrowdPlan plan{.connections = 500, .tracing = Tracing::kHash};

  EXPECT_EQ(run_crowd(plan).hash, run_crowd(plan).hash);
}

}  // namespace
}  // namespace anyrdma::sim::testing
