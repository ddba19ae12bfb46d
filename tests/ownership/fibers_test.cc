// Each mistake is found in fibers, and its twin is silent: docs/checkers.md.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/world.h"
#include "tests/ownership/mistakes.h"

/// Programs that keep an event too long never free it: that is their mistake, and no leak of ours.
// NOLINTNEXTLINE(bugprone-reserved-identifier): AddressSanitizer's name
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace anyrdma {
namespace {

using sim::Mistakes;
using sim::Ownership;
using sim::World;
using sim::WorldOptions;
using testing::HasSubstr;
using testing::StartsWith;

/// A mistake, and the line that reports it.
struct Case {
  const char* kind;
  const char* line;
};

constexpr std::array kCases{
    Case{"source", "source: client: the source of the SEND with wr_id 1 on queue pair "},
    Case{"target", "target: server/main: the 1024 bytes that the receive with wr_id 0 on queue"},
    Case{"key", "region: server: the peer of queue pair "},
    Case{"region", "region: client/main: ibv_dereg_mr ends a region that the WRITE with wr_id 1"},
    Case{"dry", "dry: server: queue pair "},
    Case{"unsignaled", "unsignaled: client/main: the send queue of queue pair "},
    Case{"overrun", "overrun: client/main: completion queue 1 is full with 2 completions"},
    Case{"depth", "depth: "},
    Case{"gone", "gone: client/main: work is posted to queue pair "},
    Case{"overlap", "overlap: server/main: the receive with wr_id 1 on queue pair "},
    Case{"both", "overlap: client/main: the SEND with wr_id 1 on queue pair "},
    Case{"owed", "owed: client/main: waits for itself: "},
    Case{"event", "owed: client/main: waits for itself: "},
};

void run(World& world, const char* kind, const char* how) {
  for (const char* const role : {"server", "client"}) {
    sim::Host& host =
        world.add_host(role, {std::string(role) == "server" ? "10.0.0.1" : "10.0.0.2"});
    host.spawn("main", [kind, how, role] {
      const std::array arguments{"mistakes", kind, how, role, "10.0.0.1"};
      EXPECT_EQ(run_mistake(static_cast<int>(arguments.size()), arguments.data()), 0);
    });
  }
  (void)world.run();
}

class OwnershipOfFibers : public testing::TestWithParam<Case> {};

TEST_P(OwnershipOfFibers, AMistakeIsFoundInTheFirstRun) {
  WorldOptions options{.ownership = Ownership::kOn};
  options.deny = {"target", "dry", "depth", "gone", "overlap"};
  World world(1, options);

  run(world, GetParam().kind, "wrong");

  EXPECT_THAT(world.mistakes()->lines(), HasSubstr(GetParam().line));
}

TEST_P(OwnershipOfFibers, ItsTwinIsSilent) {
  WorldOptions options{.ownership = Ownership::kOn};
  options.deny = {"target", "dry", "depth", "gone", "overlap", "region", "handover"};
  World world(1, options);

  run(world, GetParam().kind, "right");

  EXPECT_EQ(world.mistakes()->lines(), "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, OwnershipOfFibers, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.kind); });

TEST(OwnershipOptions, WhatIsAllowedIsNotReported) {
  WorldOptions options{.ownership = Ownership::kOn};
  options.allow = {{"source", "the peer checks a sum"}};
  World world(1, options);

  run(world, "source", "wrong");

  EXPECT_EQ(world.mistakes()->lines(), "");
}

TEST(OwnershipOptions, ARemarkIsNoMistake) {
  World world(1, WorldOptions{.ownership = Ownership::kOn});

  run(world, "dry", "wrong");

  EXPECT_EQ(world.mistakes()->lines(), "");
  EXPECT_THAT(world.mistakes()->remarks(), StartsWith("dry: server: "));
}

TEST(OwnershipOptions, AnEventThatAnotherFiberHoldsIsARemarkWhenItsIdIsDestroyed) {
  using std::chrono::seconds;
  World world(1, WorldOptions{.ownership = Ownership::kOn});
  sim::Host& host = world.add_host("client", {"10.0.0.2"});
  rdma_event_channel* channel = nullptr;
  host.spawn("main", [&] {
    channel = rdma_create_event_channel();
    rdma_cm_id* id = nullptr;
    ASSERT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    ASSERT_EQ(inet_pton(AF_INET, "10.0.0.2", &peer.sin_addr), 1);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&peer), 2000), 0);
    EXPECT_TRUE(host.sleep(seconds(2)));
    EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });
  host.spawn("taker", [&] {
    EXPECT_TRUE(host.sleep(seconds(1)));
    rdma_cm_event* event = nullptr;
    ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
    EXPECT_TRUE(host.sleep(seconds(2)));
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
  });

  EXPECT_TRUE(world.run());

  EXPECT_EQ(world.mistakes()->lines(), "");
  EXPECT_THAT(world.mistakes()->remarks(), StartsWith("handover: client/main: destroys an object"));
}

TEST(OwnershipOptions, WhereItIsOffNobodyLooks) {
  World world(1, WorldOptions{.ownership = Ownership::kOff});

  run(world, "source", "wrong");

  EXPECT_EQ(world.mistakes(), nullptr);
}

}  // namespace
}  // namespace anyrdma
