// Devices that come and go, and what their endpoints hear (cma.c:cma_remove_one,
// cma_netdev_callback, cma_netevent_callback).
#include <gtest/gtest.h>

#include <cerrno>

#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using namespace std::chrono_literals;

constexpr LinkNumber kOther{1};

/// Endpoints of host b in every relation to its device, each with a recorder of its own.
class Devices : public World {
 protected:
  void TearDown() override {
    client.reset();
    b.events.requests.clear();
    wildcard_events.requests.clear();
  }
  std::unique_ptr<Endpoint> endpoint(Recorder& events) {
    return b.transport->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, events).value();
  }
  void bind(Endpoint& at, const Address& local) {
    const Sockaddr address(local);
    ASSERT_TRUE(at.bind(address.get()));
  }
  /// A connection from a to b's wildcard listener.
  void connect() {
    bind(*wildcard, Address::ipv4(0, kPort));
    ASSERT_TRUE(wildcard->listen(8));
    wildcard_events.child_handler = &child_events;
    client = routed(a, b.address(0, kPort));
    ASSERT_TRUE(client->connect({}));
    settle();
    ASSERT_EQ(wildcard_events.requests.size(), 1u);
    ASSERT_TRUE(child().accept({}));
    settle();
    ASSERT_TRUE(client->establish());
    settle();
    a.events.events.clear();
    child_events.events.clear();
    wildcard_events.events.clear();
  }
  Endpoint& child() { return *wildcard_events.requests.front(); }

  Recorder fresh_events, wildcard_events, specific_events, child_events;
  std::unique_ptr<Endpoint> fresh = endpoint(fresh_events);
  std::unique_ptr<Endpoint> wildcard = endpoint(wildcard_events);
  std::unique_ptr<Endpoint> specific = endpoint(specific_events);
  std::unique_ptr<Endpoint> client;
};

TEST_F(Devices, RemovalIsToldToAttachedEndpointsOnly) {
  connect();
  bind(*specific, b.address(0, 9));
  ASSERT_TRUE(specific->listen(8));

  b.transport->remove_device(*b.hcas[0]);
  settle();

  (void)specific_events.only(RDMA_CM_EVENT_DEVICE_REMOVAL);
  (void)child_events.only(RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_TRUE(fresh_events.events.empty());
  EXPECT_TRUE(wildcard_events.events.empty());
}

TEST_F(Devices, RemovalDisconnectsThePeer) {
  connect();

  b.transport->remove_device(*b.hcas[0]);
  settle();

  (void)a.events.only(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(b.trace.sent(kDreq), 1);
}

TEST_F(Devices, RemovedEndpointRefusesEverything) {
  connect();
  b.transport->remove_device(*b.hcas[0]);
  settle();

  EXPECT_EQ(errno_of(child().disconnect()), ENXIO);
  EXPECT_EQ(errno_of(child().accept({})), ENXIO);
  EXPECT_EQ(errno_of(child().listen(8)), ENXIO);
  EXPECT_EQ(errno_of(child().resolve_route(1s)), ENXIO);
  EXPECT_EQ(child().qp_transition(IBV_QPS_RTS).error(), verbs::errno_code(ENXIO));
  EXPECT_EQ(child().binding().verbs, nullptr);
}

TEST_F(Devices, RemovedEndpointFreesItsPort) {
  bind(*specific, b.address(0, 9));

  b.transport->remove_device(*b.hcas[0]);

  EXPECT_EQ(b.ports.size(), 0u);
}

TEST_F(Devices, WildcardListenerSurvivesAndListensOnTheNextDevice) {
  bind(*wildcard, Address::ipv4(0, kPort));
  ASSERT_TRUE(wildcard->listen(8));
  b.transport->remove_device(*b.hcas[0]);
  b.hcas[0]->remove();
  b.hcas[0]->set_gid(1, ibv_gid{});  // the wire leads to its successor

  b.add_device(0);
  client = routed(a, b.address(0, kPort));
  ASSERT_TRUE(client->connect({}));
  settle();

  (void)wildcard_events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
}

TEST_F(Devices, RemovalCancelsAQuery) {
  b.network.answer.reset();
  bind(*specific, b.address(0, 9));
  const Sockaddr to(a.address(0, kPort));
  ASSERT_TRUE(specific->resolve_address(nullptr, to.get(), 2s));

  b.transport->remove_device(*b.hcas[0]);
  b.transport->on_neighbour(b.network.asked[0].token, 0);
  settle();

  EXPECT_EQ(b.network.cancelled.size(), 1u);
  (void)specific_events.only(RDMA_CM_EVENT_DEVICE_REMOVAL);
}

TEST_F(Devices, QueryThatLosesItsDeviceIsAnAddressError) {
  b.network.answer.reset();
  const Sockaddr to(a.address(0, kPort));
  ASSERT_TRUE(fresh->resolve_address(nullptr, to.get(), 2s));

  b.transport->remove_device(*b.hcas[0]);
  b.transport->on_neighbour(b.network.asked[0].token, 0);
  settle();

  EXPECT_EQ(fresh_events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

TEST_F(Devices, ListOfDevicesFollows) {
  ASSERT_EQ(b.transport->devices().size(), 1u);
  ibv_device* device = b.transport->devices()[0];
  EXPECT_EQ(&b.transport->provider_of(device), b.hcas[0].get());

  b.transport->remove_device(*b.hcas[0]);

  EXPECT_TRUE(b.transport->devices().empty());
  EXPECT_EQ(&b.transport->provider_of(device), b.hcas[0].get());
}

TEST_F(Devices, OneHcaPerInterfaceAndOneInterfacePerHca) {
  EXPECT_EQ(errno_of(b.transport->add_device(*b.hcas[0], 1)), EEXIST);
  EXPECT_EQ(errno_of(b.transport->add_device(*a.hcas[0], 0)), EEXIST);
}

TEST_F(Devices, AddressChangeIsToldToAttachedEndpoints) {
  connect();
  bind(*specific, b.address(0, 9));

  b.network.links[0] = kOther;
  b.transport->on_address_change(0);
  b.transport->on_address_change(1);
  settle();

  (void)specific_events.only(RDMA_CM_EVENT_ADDR_CHANGE);
  (void)child_events.only(RDMA_CM_EVENT_ADDR_CHANGE);
  EXPECT_TRUE(fresh_events.events.empty());
  EXPECT_TRUE(wildcard_events.events.empty());
}

TEST_F(Devices, AddressThatReturnsIsToldToThoseThatBeganMeanwhile) {
  connect();
  b.network.links[0] = kOther;
  bind(*specific, b.address(0, 9));

  b.network.links[0] = {};
  b.transport->on_address_change(0);
  settle();

  (void)specific_events.only(RDMA_CM_EVENT_ADDR_CHANGE);
  EXPECT_TRUE(child_events.events.empty());
}

TEST_F(Devices, AddressChangeIsToldAsOftenAsItIsAnother) {
  connect();
  for (const std::uint32_t number : {1u, 2u, 0u, 1u}) {
    b.network.links[0] = LinkNumber{number};
    b.transport->on_address_change(0);
    settle();
  }

  EXPECT_EQ(child_events.events.size(), 3u);
}

TEST_F(Devices, LoopbackEndpointIsBoundToNoInterface) {
  auto here = a.endpoint();
  const Sockaddr to(Address::loopback(AF_INET));
  ASSERT_TRUE(here->resolve_address(nullptr, to.get(), 2s));
  settle();
  a.events.events.clear();

  a.network.links[0] = kOther;
  a.transport->on_address_change(0);
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Devices, NeighbourChangeIsToldToActiveEndpointsWithARouteToIt) {
  connect();

  a.network.neighbour_links[{0, b.address().ip}] = kOther;
  b.network.neighbour_links[{0, a.address().ip}] = kOther;
  a.transport->on_neighbour_changed(0, b.address());
  b.transport->on_neighbour_changed(0, a.address());
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
  EXPECT_TRUE(child_events.events.empty());
}

TEST_F(Devices, NeighbourThatIsElsewhereIsToldOfAgainAndAgainUntilItReturns) {
  connect();
  LinkNumber& link = a.network.neighbour_links[{0, b.address().ip}];
  const auto told = [&](LinkNumber now) {
    a.events.events.clear();
    link = now;
    a.transport->on_neighbour_changed(0, b.address());
    settle();
    return a.events.events.size();
  };

  EXPECT_EQ(told(LinkNumber{}), 0u);
  EXPECT_EQ(told(kOther), 1u);
  EXPECT_EQ(told(kOther), 1u);
  EXPECT_EQ(told(LinkNumber{}), 0u);
}

TEST_F(Devices, NeighbourChangeConcernsThatNeighbourAndInterfaceOnly) {
  connect();
  a.network.neighbour_links[{0, address_of(77).ip}] = kOther;
  a.network.neighbour_links[{1, b.address().ip}] = kOther;

  a.transport->on_neighbour_changed(0, address_of(77));
  a.transport->on_neighbour_changed(1, b.address());
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Devices, NeighbourChangeIsNothingBeforeTheRouteIsResolved) {
  const Sockaddr to(b.address(0, kPort));
  auto resolving = a.endpoint();
  ASSERT_TRUE(resolving->resolve_address(nullptr, to.get(), 2s));
  settle();
  a.events.events.clear();

  a.network.neighbour_links[{0, b.address().ip}] = kOther;
  a.transport->on_neighbour_changed(0, b.address());
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Devices, PeerThatIsGoneIsTakenAsDisconnected) {
  connect();

  a.transport->on_peer_gone(runtime.time, 0, 0, {});  // whatever its comm ids
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_DISCONNECTED).status, 0);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
