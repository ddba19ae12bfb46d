// What each fault of a plan does to a running world, and how it is accounted for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sim/testing/faulted_pair.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class FaultAction : public FaultedPair {
 protected:
  FaultStatus only() { return world.faults().status().front(); }
};

TEST_F(FaultAction, ADelayedMessageArrivesSoMuchLater) {
  inject("on client->server REQ 1: delay 1s");

  const Connection made = connect();

  EXPECT_NEAR(now(), 1.0, 0.001);
  EXPECT_EQ(only().observed, 1u);
}

TEST_F(FaultAction, ADuplicatedRequestMakesNoSecondConnection) {
  inject("on client->server REQ 1: duplicate");

  const Connection made = connect();
  server.seen.clear();
  world.run_for(1s);
  server.take_all();

  EXPECT_TRUE(server.seen.empty());
  EXPECT_EQ(only().fired, 1u);
}

TEST_F(FaultAction, ACorruptedMessageIsDroppedByTheReceiversIcrcAndRepeated) {
  inject("on client->server REQ 1: corrupt");

  const Connection made = connect();

  EXPECT_EQ(server_host.hca().counters().bad_icrc, 1u);
  EXPECT_GT(now(), 1.0);
  EXPECT_THAT(world.trace().text(), HasSubstr("drop (client): wrong ICRC: REQ"));
}

TEST_F(FaultAction, ARequestThatIsTakenForStaleIsRejectedSo) {
  inject("on server request 1: stale");
  const auto refused = ask();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_REJECTED).status, 10);
  EXPECT_EQ(only().observed, 1u);
  const Connection made = connect();
}

TEST_F(FaultAction, ARequestThatFindsTheBacklogFullIsAskedAgain) {
  inject("on server request 1: overflow");

  const Connection made = connect();

  EXPECT_GT(now(), 1.0);
  EXPECT_THAT(world.trace().text(), Not(HasSubstr("REJ")));
  EXPECT_EQ(only().observed, 1u);
}

TEST_F(FaultAction, AnyPacketCanBeCounted) {
  inject("on client->server packet 2: lose");

  const Connection made = connect();  // REQ, RTU

  EXPECT_EQ(only().fired, 1u);
  EXPECT_THAT(world.trace().text(), HasSubstr("client drop (server): lost by a fault: RTU"));
}

TEST_F(FaultAction, AnEventOfOneIdCanPullTheTrigger) {
  inject("on client#1 queued CONNECT_RESPONSE 1: remove client anyrdma0");

  const auto id = ask();
  const auto other = accept();
  world.run_for(1ms);
  client.take_all();

  EXPECT_EQ(types_of(client.seen).back(), RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(only().fired, 1u);
}

TEST_F(FaultAction, ACallOfOneIdCanPullTheTrigger) {
  inject("on client#2 call connect 1: remove client anyrdma0");

  const Connection first = connect();
  const auto second = ask();
  world.run_for(1ms);
  client.take_all();

  ASSERT_EQ(types_of(client.seen).back(), RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(client.seen.back().id, second->number());
  EXPECT_EQ(only().armed, 1u);  // the first id's call does not count
  EXPECT_EQ(only().fired, 1u);
}

TEST_F(FaultAction, AnEventThatIsFetchedPullsTheTriggerWithoutATraceToo) {
  WorldOptions options;
  options.tracing = Tracing::kOff;
  World quiet(1, options);
  Host& host = quiet.add_host("client", {"10.0.0.1"});
  Host& other = quiet.add_host("server", {"10.0.0.2"});
  const auto plan = FaultPlan::parse("on client fetched ADDR_RESOLVED 1: remove client anyrdma0");
  ASSERT_TRUE(quiet.faults().inject(plan.value()));
  Program program(host);
  auto id = program.make_id();
  const sockaddr_storage address = other.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();

  program.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  program.expect(RDMA_CM_EVENT_DEVICE_REMOVAL);
}

TEST_F(FaultAction, AReturnedDeviceServesNewConnectionsUnderItsOldOrANewGuid) {
  const auto guid = server_host.hca().config().node_guid;
  const Connection before = connect();
  inject(
      "at 1s: remove server anyrdma0\nat 2s: return server anyrdma0\n"
      "at 3s: remove server anyrdma0\nat 4s: return server anyrdma0 new-guid\n");

  world.run_for(2500ms);
  server.take_all();
  client.take_all();
  EXPECT_EQ(server_host.hca().config().node_guid, guid);
  listener = server.listen(server_host.address(kPort));
  const Connection between = connect();
  world.run_for(2s);
  server.take_all();
  client.take_all();

  EXPECT_NE(server_host.hca().config().node_guid, guid);
  listener = server.listen(server_host.address(kPort));
  const Connection after = connect();
  EXPECT_EQ(before.passive->disconnect().error().value(), ENXIO);
  EXPECT_TRUE(world.faults().unfired().empty()) << world.faults().report();
}

TEST_F(FaultAction, APortWithoutLinkTakesNothingIn) {
  inject("at 0s: port-down server anyrdma0\nat 3s: port-up server anyrdma0");

  const Connection made = connect();

  EXPECT_GT(now(), 3.0);
  EXPECT_THAT(world.trace().text(), HasSubstr("drop (client): port or device down: REQ"));
}

TEST_F(FaultAction, ACutPathLetsTheOtherDirectionPass) {
  const Connection made = connect();
  inject("at 1s: cut server->client\nat 2s: mend server->client");
  world.run_for(1500ms);
  made.active->disconnect().value();
  world.run_for(100ms);
  server.take_all();
  client.take_all();

  EXPECT_EQ(types_of(server.seen).back(), RDMA_CM_EVENT_DISCONNECTED);
  made.passive->disconnect().value();  // the DREP that is lost
  client.expect(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_GT(now(), 2.0);
  EXPECT_GE(world.faults().status()[0].observed, 1u);
}

TEST_F(FaultAction, ACutThatNobodyMeetsFiresButIsNotObserved) {
  inject("at 1s: cut *<->*");

  world.run_for(2s);

  EXPECT_EQ(only().to_string(), "planned 1, armed 1, fired 1, observed 0: at 1s: cut *<->*");
}

TEST_F(FaultAction, ACutIsObservedByWhoeverLooksForANeighbour) {
  inject("at 0s: cut client<->*");
  world.run_for(1ms);
  auto id = client.make_id();
  const sockaddr_storage address = server_host.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();

  client.expect(RDMA_CM_EVENT_ADDR_ERROR);

  EXPECT_GE(only().observed, 1u);
}

TEST_F(FaultAction, ASlowPathHasThatLatency) {
  inject("at 0s: slow client<->server 100ms");
  world.run_for(1ms);

  const Connection made = connect();

  EXPECT_NEAR(now(), 0.5, 0.01);  // neighbour 200 ms, REQ, REP, RTU
}

TEST_F(FaultAction, TheSecondRemovalOfADeviceFiresAndChangesNothing) {
  inject("at 1s: remove server anyrdma0\nat 2s: remove server anyrdma0");

  world.run_for(3s);

  EXPECT_EQ(world.faults().status()[0].observed, 1u);
  EXPECT_EQ(world.faults().status()[1].fired, 1u);
  EXPECT_EQ(world.faults().status()[1].observed, 0u);
}

TEST_F(FaultAction, WhatWasSeenWithoutBeingItsTurnIsArmedOnly) {
  inject("maybe on client->server REQ 2: lose");

  const Connection made = connect();

  EXPECT_EQ(only().to_string(),
            "planned 1, armed 1, fired 0, observed 0: maybe on client->server REQ 2: lose");
}

TEST_F(FaultAction, AFaultThatMayStayAwayIsNotReported) {
  inject("maybe on client->server REQ 9: lose");

  world.run_for(1s);

  EXPECT_TRUE(world.faults().unfired().empty());
}

struct Misnamed {
  const char* plan;
  const char* problem;
};

class MisnamedFault : public FaultAction, public ::testing::WithParamInterface<Misnamed> {};

TEST_P(MisnamedFault, IsRefusedBeforeAnythingRuns) {
  const auto result = world.faults().inject(FaultPlan::parse(GetParam().plan).value());

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    All, MisnamedFault,
    ::testing::Values(
        Misnamed{"at 1s: cut client->sever", "no host 'sever'"},
        Misnamed{"on sever#1 queued ESTABLISHED 1: cut *->*", "no host 'sever'"},
        Misnamed{"at 1s: return server anyrdma1", "no device 'anyrdma1' on that host"},
        Misnamed{"at 1s: port-up sever anyrdma0", "no host 'sever'"},
        Misnamed{"on server queued ESTABLISHED 1: hold 1s",
                 "'hold' is not possible on simulated hosts: delay the message that causes the "
                 "event"},
        Misnamed{"at 1s: fail-over server eth9", "no interface 'eth9' on that host"}));

TEST_F(FaultAction, AFaultThatNoTextCanSayIsRefused) {
  FaultPlan plan;
  plan.on(AtTime{-1s}, RemoveDevice{"server", "anyrdma0"});

  EXPECT_FALSE(world.faults().inject(plan));
}

TEST(FaultChance, IsTheSeedsAndLeavesOtherFaultsAlone) {
  const auto lost = [](std::uint64_t seed, std::string_view other) {
    World world(seed);
    Host& from = world.add_host("client", {"10.0.0.1"});
    world.add_host("server", {"10.0.0.2"});
    const std::string plan = std::string(other) + "maybe on client->server REQ 50%: lose\n";
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
    Program client(from);
    auto id = client.resolve(Address::ipv4(0x0a000002, kPort));
    rdma_conn_param param = parameters("");
    param.qp_num = 0x77;
    id->connect(&param).value();
    world.run_for(1000s);  // rejected by whichever REQ arrives
    client.take_all();
    return world.faults().status().back().fired;
  };

  std::vector<std::uint32_t> runs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) runs.push_back(lost(seed, ""));

  EXPECT_THAT(runs, ::testing::Contains(0u));
  EXPECT_THAT(runs, ::testing::Contains(2u));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(lost(seed, "maybe on server->client REJ 30%: delay 1ms\n"), runs[seed]);
  }
}

}  // namespace
}  // namespace anyrdma::sim::testing
