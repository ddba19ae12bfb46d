// What a run is said to have come to.
#include "sim/milestones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "sim/findings.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

/// A client sends a message to a server, and one of them, or both, want the end.
struct Talk {
  Duration receive_after{};
  bool both_disconnect = false;
  std::string faults{};
};

constexpr Instant kEnd{100ms};

void rest_until(Host& host, Instant time) {
  EXPECT_TRUE(host.sleep(time - host.world().now()));
}

void serve(Host& host, const Talk& talk) {
  Program program(host);
  const auto listener = program.listen(Address::ipv4(0, kPort));
  const auto id = program.expect_request();
  Pipe pipe(*id);
  if (talk.receive_after == Duration::zero()) pipe.post_receive(1, 0, 64);
  rdma_conn_param param = parameters("");
  EXPECT_TRUE(id->accept(&param));
  program.expect(RDMA_CM_EVENT_ESTABLISHED);
  if (talk.receive_after != Duration::zero()) {
    (void)host.sleep(talk.receive_after);
    pipe.post_receive(1, 0, 64);
  }
  EXPECT_EQ(pipe.wait_received().status, IBV_WC_SUCCESS);
  if (talk.both_disconnect) {
    rest_until(host, kEnd);
  } else {
    program.expect(RDMA_CM_EVENT_DISCONNECTED);
  }
  EXPECT_TRUE(id->disconnect());
  if (talk.both_disconnect) program.expect(RDMA_CM_EVENT_DISCONNECTED);
}

void send(Host& host, const Address& server, const Talk& talk) {
  Program program(host);
  const auto id = program.resolve(server);
  Pipe pipe(*id);
  rdma_conn_param param = parameters("");
  EXPECT_TRUE(id->connect(&param));
  program.expect(RDMA_CM_EVENT_ESTABLISHED);
  pipe.post(IBV_WR_SEND, 2, 0, 8);
  EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  if (talk.both_disconnect) rest_until(host, kEnd);
  EXPECT_TRUE(id->disconnect());
  program.expect(RDMA_CM_EVENT_DISCONNECTED);
}

/// All milestones of the conversation.
std::set<std::uint32_t> milestones_of(const Talk& talk) {
  const Findings findings(true);
  {
    World world(1);
    Host& client = world.add_host("client", {"10.0.0.1"});
    Host& server = world.add_host("server", {"10.0.0.2"});
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse(talk.faults).value()));
    server.spawn("server", [&] { serve(server, talk); });
    client.spawn("client", [&] { send(client, server.address(kPort), talk); });
    EXPECT_TRUE(world.run());
  }
  std::set<std::uint32_t> milestones;
  for (const Reached& each : findings.reached()) {
    if (each.bit < Coverage::kMilestones) milestones.insert(each.bit);
  }
  return milestones;
}

/// How many are of one conversation only.
std::size_t more(const Talk& than, const Talk& talk) {
  const auto common = milestones_of(than);
  std::size_t count = 0;
  for (const std::uint32_t each : milestones_of(talk)) count += common.contains(each) ? 0 : 1;
  return count;
}

TEST(Milestones, AreTheSameInTheSameRun) {
  EXPECT_EQ(milestones_of({}), milestones_of({}));
  EXPECT_GT(milestones_of({}).size(), 5u);
}

TEST(Milestones, AreARequestThatIsSentAgainAndTheFaultThatLostIt) {
  // The last of the server's packets before its end: an acknowledgement.
  EXPECT_EQ(more({}, {.faults = "on server->client packet 2: lose\n"}), 2u);
}

TEST(Milestones, AreANakForWantOfAReceiveAndTheRequestThatIsSentAgain) {
  EXPECT_EQ(more({}, {.receive_after = 1ms}), 2u);
}

TEST(Milestones, AreDreqsThatCrossEachOther) {
  EXPECT_GE(more({}, {.both_disconnect = true}), 1u);
}

TEST(Milestones, OfAMarkInAProgramAreOnlyThoseThatCameTrue) {
  const Findings findings(true);
  sometimes("never", false);
  EXPECT_TRUE(findings.reached().empty());
  sometimes("once", true);
  sometimes("once", true);

  ASSERT_EQ(findings.reached().size(), 1u);
  EXPECT_EQ(findings.reached().front().decision, 0u);
}

TEST(Milestones, AreNotedAtTheDecisionAtWhichTheRunComesToThem) {
  const Findings findings(true);
  World world(1, {.schedule = {.policy = Policy::kGiven}});
  Host& host = world.add_host("host", {"10.0.0.1"});
  for (const char* name : {"a", "b", "c"}) host.spawn(name, [name] { sometimes(name, true); });
  EXPECT_TRUE(world.run());

  ASSERT_EQ(findings.reached().size(), 3u);
  EXPECT_EQ(findings.reached()[0].decision, 1u);
  EXPECT_EQ(findings.reached()[1].decision, 2u);
  EXPECT_EQ(findings.reached()[2].decision, 2u) << "the last had no choice";
}

TEST(Milestones, AreNotLookedForUnlessTheyAreWanted) {
  const Findings findings;
  const World world(1);

  EXPECT_EQ(world.milestones(), nullptr);
  EXPECT_EQ(coverage_of_run(), nullptr);
}

}  // namespace
}  // namespace anyrdma::sim::testing
