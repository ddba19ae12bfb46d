// Faults of what surrounds an id: the states it comes to, the way to its peer, addresses and
// clocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "sim/testing/faulted_pair.h"
#include "transport/soft/state.h"
#include "verbs/provider.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Surroundings : public FaultedPair {
 protected:
  std::unique_ptr<cm::Id> start_resolving(const Address& to) {
    auto id = client.make_id();
    const sockaddr_storage address = to.to_sockaddr();
    id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();
    return id;
  }
  void connect(cm::Id& id) { FaultedPair::connect(id, next_qpn++); }
};

// --- states -------------------------------------------------------------------------------------

TEST_F(Surroundings, AStateThatAnIdComesToPullsTheTrigger) {
  inject(
      "on client#1 state ADDR_QUERY 1: slow client->server 1ms\n"
      "on client#1 state ADDR_RESOLVED 1: slow client->server 2ms\n"
      "on client#1 state ROUTE_QUERY 1: slow client->server 3ms\n"
      "on client#1 state ROUTE_RESOLVED 1: slow client->server 4ms\n"
      "on client#1 state CONNECT 1: slow client->server 5ms\n"
      "on client#1 state DEVICE_REMOVAL 1: slow client->server 6ms\n"
      "on client#1 state DESTROYING 1: slow client->server 7ms\n"
      "on server state CONNECT 1: remove client anyrdma0\n"
      "maybe on client#2 state ADDR_QUERY 1: remove server anyrdma0\n");
  {
    const auto id = ask();
    const auto asked = server.expect_request();
    client.expect(RDMA_CM_EVENT_DEVICE_REMOVAL);
  }
  world.run_for(1ms);

  EXPECT_TRUE(world.faults().unfired().empty()) << world.faults().report();
  EXPECT_EQ(world.path(client_host, server_host).latency, 7ms);
}

TEST(StateNames, AreThoseOfTheTable) {
  for (std::size_t i = 0; i < transport::soft::kStateCount; ++i) {
    const std::string_view name = to_string(static_cast<transport::soft::State>(i));
    ASSERT_TRUE(name.starts_with("RDMA_CM_"));
    EXPECT_EQ(name.substr(8), fault::kStateNames[i]);
  }
  EXPECT_EQ(std::size(fault::kStateNames), transport::soft::kStateCount);
}

// --- resolution ---------------------------------------------------------------------------------

TEST_F(Surroundings, AResolutionFailsWithTheErrorOfThePlanAndTheNextOneDoesNot) {
  inject("on client resolving 1: unresolved EHOSTUNREACH\non client resolving 2: cut *<->*");
  const auto id = start_resolving(server_host.address(kPort));
  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -EHOSTUNREACH);

  const auto second = start_resolving(server_host.address(kPort));

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -ETIMEDOUT);  // the cut
  EXPECT_EQ(world.faults().status()[0].observed, 1u);
}

// --- routes and requests that take their time ---------------------------------------------------

TEST_F(Surroundings, ARouteThatIsNotFoundIsAnErrorAndCanBeLookedForAgain) {
  inject("on client routing 1: unrouted EINVAL\non client routing 2: unrouted ETIMEDOUT");
  const auto id = start_resolving(server_host.address(kPort));
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  const Instant before = world.now();
  id->resolve_route(700ms).value();
  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ROUTE_ERROR).status, -EINVAL);
  EXPECT_EQ(world.now(), before);
  EXPECT_EQ(id->state(), "RDMA_CM_ADDR_RESOLVED");
  EXPECT_EQ(id->raw()->route.num_paths, 0);

  id->resolve_route(700ms).value();
  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ROUTE_ERROR).status, -ETIMEDOUT);
  EXPECT_EQ(world.now() - before, 700ms);
  id->resolve_route(700ms).value();
  client.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);

  EXPECT_EQ(id->raw()->route.num_paths, 1);
  EXPECT_EQ(world.faults().status()[1].observed, 1u);
}

TEST_F(Surroundings, WhoeverLooksForARouteMayGo) {
  inject("on * routing all: unrouted ETIMEDOUT");
  {
    const auto id = start_resolving(server_host.address(kPort));
    client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    id->resolve_route(2s).value();
    world.run_for(1s);
  }
  world.run_for(2s);

  EXPECT_EQ(client.seen.size(), 1u);
}

TEST_F(Surroundings, ADeviceThatGoesEndsTheSearchForARoute) {
  inject("on client routing 1: unrouted ETIMEDOUT\nat 1s: remove client anyrdma0");
  const auto id = start_resolving(server_host.address(kPort));
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  id->resolve_route(kPatience).value();

  client.expect(RDMA_CM_EVENT_DEVICE_REMOVAL);
  world.run_for(5s);
  client.take_all();
  EXPECT_EQ(client.seen.back().type, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

TEST_F(Surroundings, AnMraLetsThePeerWaitLonger) {
  inject("on server request 1: mra 22\non client->server REQ all: delay 1us");
  const auto requests_in_ten_seconds = [&] {
    const std::uint32_t before = world.faults().status()[1].fired;
    const auto id = ask();
    world.run_for(10s);
    return world.faults().status()[1].fired - before;
  };

  EXPECT_EQ(requests_in_ten_seconds(), 1u);  // 17 s and a bit are to be waited
  EXPECT_GT(requests_in_ten_seconds(), 1u);
  EXPECT_EQ(world.faults().status()[0].observed, 1u);
}

TEST_F(Surroundings, ARequestThatAnMraWasSentForIsAnsweredAsAnyOther) {
  inject("on server request 1: mra 31\non server->client REP 1: lose");

  const Connection made = FaultedPair::connect();

  EXPECT_EQ(made.passive->state(), "RDMA_CM_CONNECT");
  EXPECT_TRUE(world.faults().unfired().empty());
}

// --- what a device says of itself ----------------------------------------------------------------

TEST_F(Surroundings, ADeviceRaisesAnEventAndGoesOn) {
  const Connection made = FaultedPair::connect();
  inject(
      "at 1s: device-event server anyrdma0 PKEY_CHANGE\n"
      "at 1s: device-event server anyrdma0 LID_CHANGE\n"
      "at 1s: device-event server anyrdma0 SM_CHANGE\n"
      "at 1s: device-event server anyrdma0 CLIENT_REREGISTER\n"
      "at 1s: device-event server anyrdma0 GID_CHANGE\n"
      "at 1s: device-event server anyrdma0 DEVICE_FATAL\n");
  world.run_for(2s);

  verbs::Provider& provider = verbs::provider_of(made.passive->raw()->verbs);
  for (const ibv_event_type type :
       {IBV_EVENT_PKEY_CHANGE, IBV_EVENT_LID_CHANGE, IBV_EVENT_SM_CHANGE,
        IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE, IBV_EVENT_DEVICE_FATAL}) {
    const auto event = provider.get_async_event(made.passive->raw()->verbs);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event_type, type);
    provider.ack_async_event(*event);
  }
  EXPECT_TRUE(world.faults().unfired().empty());
  const Connection another = FaultedPair::connect();
}

TEST_F(Surroundings, ADeviceThatIsGoneRaisesNothing) {
  inject("at 1s: remove server anyrdma0\nat 2s: device-event server anyrdma0 SM_CHANGE");
  world.run_for(3s);

  EXPECT_EQ(world.faults().status()[1].fired, 1u);
  EXPECT_EQ(world.faults().status()[1].observed, 0u);
}

TEST_F(Surroundings, AGroupIsLostToWhoHasJoinedIt) {
  auto id = cm::Id::create(client.channel(), RDMA_PS_UDP, nullptr).value();
  const sockaddr_storage local = client_host.address(kPort).to_sockaddr();
  id->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  const auto join = [&](std::uint32_t address) {
    const sockaddr_storage group = Address::ipv4(address).to_sockaddr();
    id->join_multicast(reinterpret_cast<const sockaddr*>(&group), nullptr).value();
    EXPECT_EQ(client.expect(RDMA_CM_EVENT_MULTICAST_JOIN).status, 0);
  };
  join(0xef010203);
  join(0xef010204);
  inject(
      "at 1s: lose-group client 239.1.2.4\n"
      "at 2s: lose-group client 239.1.2.4\n"
      "at 2s: lose-group client 239.9.9.9\n");

  const Seen lost = client.expect(RDMA_CM_EVENT_MULTICAST_ERROR);

  EXPECT_EQ(lost.status, -ENETRESET);
  client.seen.clear();
  world.run_for(3s);
  client.take_all();
  EXPECT_TRUE(client.seen.empty());
  EXPECT_EQ(world.faults().status()[0].observed, 1u);
  EXPECT_EQ(world.faults().status()[1].observed, 0u);  // it is lost already
  EXPECT_EQ(world.faults().status()[2].observed, 0u);
}

// --- a request that nobody answers --------------------------------------------------------------

TEST_F(Surroundings, AnIgnoredRequestIsRepeatedInVainUntilUnreachable) {
  inject("on server request 1: ignore");
  const auto id = ask();

  const Seen end = client.expect(RDMA_CM_EVENT_UNREACHABLE);

  EXPECT_EQ(end.status, -ETIMEDOUT);
  EXPECT_GT(now(), 30.0);
  EXPECT_THAT(world.trace().text(), Not(HasSubstr("server -> client")));
  EXPECT_EQ(world.faults().status()[0].armed, 1u);  // the repetitions are the same request
  const auto another = ask();
  const auto accepted = accept();
  client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
}

// --- packets ------------------------------------------------------------------------------------

TEST_F(Surroundings, AReorderedPacketComesBehindTheNextOne) {
  inject("on server->client REP 1: reorder");
  const auto first = ask();
  const auto second = ask();
  const auto accepted_first = accept();
  const auto accepted_second = accept();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE).id, second->number());
  EXPECT_EQ(client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE).id, first->number());
}

TEST_F(Surroundings, AReorderedPacketThatNothingFollowsComesALittleLate) {
  inject("on client->server REQ 1: reorder");
  const auto id = ask();

  const auto accepted = accept();

  EXPECT_LT(now(), 0.001);
}

TEST_F(Surroundings, WhatWaitsOnACloggedPathArrivesWhenItIsMended) {
  const auto id = client.resolve(server_host.address(kPort));
  inject("at 1s: clog client->server\nat 2500ms: mend client->server");
  world.run_for(1100ms);
  connect(*id);
  const auto accepted = accept();

  EXPECT_NEAR(now(), 2.5, 0.001);
  client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
}

TEST_F(Surroundings, NeighboursDoNotHearEachOtherOverACloggedPath) {
  inject("at 0s: clog client<->server");
  world.run_for(1ms);

  const auto id = start_resolving(server_host.address(kPort));

  client.expect(RDMA_CM_EVENT_ADDR_ERROR);
}

// --- clocks -------------------------------------------------------------------------------------

TEST_F(Surroundings, AFastClockGivesUpEarlyAndASlowOneLate) {
  const auto time_of = [](std::string_view plan) {
    World other(1);
    Host& from = other.add_host("client", {"10.0.0.1"});
    other.add_host("server", {"10.0.0.2"});
    EXPECT_TRUE(other.faults().inject(FaultPlan::parse(plan).value()));
    Program program(from);
    auto id = program.resolve(Address::ipv4(0x0a000002, kPort));
    other.set_link(from, *other.find_host("server"), {.down = true});
    rdma_conn_param param = parameters("");
    param.qp_num = 0x77;
    id->connect(&param).value();
    program.expect(RDMA_CM_EVENT_UNREACHABLE);
    return std::chrono::duration<double>(other.now().time_since_epoch()).count();
  };

  const double exact = time_of("");
  EXPECT_NEAR(time_of("maybe at 0s: drift client 100000") / exact, 1 / 1.1, 0.001);
  EXPECT_NEAR(time_of("maybe at 0s: drift client -100000") / exact, 1 / 0.9, 0.001);
}

TEST_F(Surroundings, ADriftingClockMovesAndCanBeSetRight) {
  inject("at 10s: drift client 100000\nat 20s: drift client 0");
  std::vector<double> woken;
  client_host.spawn("main", [&] {
    for (const auto each : {10s, 11s, 1s}) {
      client_host.sleep(each);
      woken.push_back(now());
    }
  });

  ASSERT_TRUE(world.run());

  ASSERT_EQ(woken.size(), 3u);
  EXPECT_NEAR(woken[1], 20.0, 0.000'001);
  EXPECT_NEAR(woken[2], 21.0, 0.000'001);
}

// --- addresses ----------------------------------------------------------------------------------

TEST_F(Surroundings, AnAddressThatIsAddedAnswersAndItsGidIsThere) {
  const Address added = Address::ipv4(0x0a000009, kPort);
  inject("at 3s: add-address server eth0 10.0.0.9/24");
  const auto before = start_resolving(added);
  client.expect(RDMA_CM_EVENT_ADDR_ERROR);
  world.run_for(2s);
  const auto wildcard = server.listen(Address::ipv4(0, kPort + 1));

  Address to = added;
  to.port = kPort + 1;
  const auto id = client.resolve(to);
  connect(*id);

  const auto asked = server.expect_request();
  const auto gids = server_host.hca().gids();
  EXPECT_EQ(gids[1].raw[15], 9);
}

TEST_F(Surroundings, AnAddressThatIsDroppedLeavesItsConnectionWithoutAWord) {
  const auto id = ask();
  const auto accepted = accept();
  client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
  id->establish().value();
  server.expect(RDMA_CM_EVENT_ESTABLISHED);
  inject("at 1s: drop-address server eth0 10.0.0.2");
  world.run_for(2s);
  client.take_all();
  EXPECT_EQ(client.seen.back().type, RDMA_CM_EVENT_CONNECT_RESPONSE);

  id->disconnect().value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_DISCONNECTED).status, -ETIMEDOUT);
  EXPECT_THAT(world.trace().text(), HasSubstr("no such address: DREQ"));
  const auto late = server.make_id();
  const sockaddr_storage gone = Address::ipv4(0x0a000002, kPort + 1).to_sockaddr();
  EXPECT_EQ(late->bind(reinterpret_cast<const sockaddr*>(&gone)).error().value(), EADDRNOTAVAIL);
}

TEST_F(Surroundings, AnAddressCanMoveToAnotherHost) {
  Host& spare = world.add_host("spare", {"10.0.0.3"});
  inject("at 1s: drop-address server eth0 10.0.0.2\nat 2s: add-address spare eth0 10.0.0.2");
  Program other(spare);
  world.run_for(3s);
  const auto takes_over = other.listen(Address::ipv4(0x0a000002, kPort));

  const auto id = client.resolve(Address::ipv4(0x0a000002, kPort));
  connect(*id);

  EXPECT_NE(other.expect_request(), nullptr);
}

TEST_F(Surroundings, AddressesThatCannotBeAreRefused) {
  EXPECT_EQ(server_host.interfaces().add_address("eth9", "10.0.0.9").error().value(), ENODEV);
  EXPECT_EQ(server_host.interfaces().add_address("eth0", "10.0.0").error().value(), EINVAL);
  EXPECT_EQ(server_host.interfaces().add_address("eth0", "10.0.0.1").error().value(), EADDRINUSE);
  EXPECT_EQ(server_host.interfaces().drop_address("eth9", "10.0.0.2").error().value(), ENODEV);
  EXPECT_EQ(server_host.interfaces().drop_address("eth0", "x").error().value(), EINVAL);
  EXPECT_EQ(server_host.interfaces().drop_address("eth0", "10.0.0.9").error().value(),
            EADDRNOTAVAIL);
  const auto plan = FaultPlan::parse("at 1s: add-address server eth0 10.0.0.300");
  EXPECT_EQ(world.faults().inject(plan.value()).error().reason, "'10.0.0.300' is no address");
}

}  // namespace
}  // namespace anyrdma::sim::testing
