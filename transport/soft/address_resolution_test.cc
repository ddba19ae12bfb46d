// How endpoints get addresses, ports, devices and paths.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>

#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using namespace std::chrono_literals;
using wire::same;

Address source_of(const Endpoint& endpoint) {
  const Binding binding = endpoint.binding();
  return Address::from(reinterpret_cast<const sockaddr&>(binding.addr.src_storage)).value();
}

ibv_gid gid_at(const Binding& binding) {
  return binding.addr.addr.ibaddr.sgid;
}

class BindingTo : public World {
 protected:
  int bind(Endpoint& endpoint, const Address& local) {
    const Sockaddr address(local);
    return errno_of(endpoint.bind(address.get()));
  }
};

TEST_F(BindingTo, SpecificAddressBindsItsDevice) {
  auto endpoint = a.endpoint();

  EXPECT_EQ(bind(*endpoint, a.address(0, kPort)), 0);

  EXPECT_EQ(source_of(*endpoint), a.address(0, kPort));
  EXPECT_NE(endpoint->binding().verbs, nullptr);
  EXPECT_TRUE(same(gid_at(endpoint->binding()), a.address().gid()));
}

TEST_F(BindingTo, WildcardBindsNoDeviceAndPicksAPort) {
  auto endpoint = a.endpoint();

  EXPECT_EQ(bind(*endpoint, Address::wildcard(AF_INET)), 0);

  EXPECT_EQ(endpoint->binding().verbs, nullptr);
  EXPECT_GE(source_of(*endpoint).port, 32768);
}

TEST_F(BindingTo, ForeignAddressIsNotAvailable) {
  EXPECT_EQ(bind(*a.endpoint(), b.address(0, kPort)), EADDRNOTAVAIL);
}

TEST_F(BindingTo, InterfaceWithoutHcaIsNoDevice) {
  EXPECT_EQ(bind(*a.endpoint(), a.address(1, kPort)), ENODEV);
}

TEST_F(BindingTo, SecondBindIsInvalid) {
  auto endpoint = a.endpoint();
  ASSERT_EQ(bind(*endpoint, a.address(0, kPort)), 0);

  EXPECT_EQ(bind(*endpoint, a.address(0, kPort)), EINVAL);
}

TEST_F(BindingTo, RefusedBindMayBeRepeated) {
  auto first = a.endpoint();
  auto second = a.endpoint();
  ASSERT_EQ(bind(*first, a.address(0, kPort)), 0);

  EXPECT_EQ(bind(*second, a.address(0, kPort)), EADDRINUSE);
  EXPECT_EQ(bind(*second, Address::wildcard(AF_INET)), 0);
}

TEST_F(BindingTo, ReuseAddressMayBeSetOnBoth) {
  const int one = 1;
  const std::span<const std::uint8_t> on(reinterpret_cast<const std::uint8_t*>(&one), sizeof one);
  auto first = a.endpoint();
  auto second = a.endpoint();
  ASSERT_EQ(bind(*first, a.address(0, kPort)), 0);
  ASSERT_TRUE(first->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, on));
  ASSERT_TRUE(second->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, on));

  EXPECT_EQ(bind(*second, a.address(0, kPort)), 0);
  EXPECT_EQ(errno_of(first->listen(8)), EADDRINUSE);
  second.reset();
  EXPECT_EQ(errno_of(first->listen(8)), 0);
}

TEST_F(BindingTo, Ipv6WildcardBlocksIpv4UnlessAfonly) {
  const int one = 1;
  const std::span<const std::uint8_t> on(reinterpret_cast<const std::uint8_t*>(&one), sizeof one);
  Address any4 = Address::wildcard(AF_INET);
  Address any6 = Address::wildcard(AF_INET6);
  any4.port = any6.port = kPort;
  auto first = a.endpoint();
  auto second = a.endpoint();
  ASSERT_EQ(bind(*first, any4), 0);
  EXPECT_EQ(bind(*second, any6), EADDRNOTAVAIL);

  ASSERT_TRUE(second->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, on));

  EXPECT_EQ(bind(*second, any6), 0);
}

TEST_F(BindingTo, ListenOnAFreshEndpointBindsTheWildcard) {
  auto endpoint = a.endpoint();

  ASSERT_TRUE(endpoint->listen(8));

  EXPECT_TRUE(source_of(*endpoint).is_zero());
  EXPECT_NE(source_of(*endpoint).port, 0);
  EXPECT_EQ(errno_of(endpoint->listen(8)), EINVAL);
}

TEST_F(BindingTo, UnknownOptionsAreNotOffered) {
  const std::uint8_t value[4] = {1};
  auto endpoint = a.endpoint();

  EXPECT_EQ(errno_of(endpoint->set_option(RDMA_OPTION_IB, 99, value)), ENOSYS);
  EXPECT_EQ(errno_of(endpoint->set_option(RDMA_OPTION_ID, 99, value)), ENOSYS);
}

class Resolving : public World {
 protected:
  int resolve(Endpoint& at, const Address& destination) {
    const Sockaddr to(destination);
    return errno_of(at.resolve_address(nullptr, to.get(), 2s));
  }
  int resolve_from(Endpoint& at, const Address& source, const Address& destination) {
    const Sockaddr from(source);
    const Sockaddr to(destination);
    return errno_of(at.resolve_address(&from.get(), to.get(), 2s));
  }
  std::unique_ptr<Endpoint> endpoint = a.endpoint();
  void TearDown() override { endpoint.reset(); }
};

TEST_F(Resolving, PicksSourcePortDeviceAndGids) {
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  settle();

  (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_TRUE(source_of(*endpoint).same_ip(a.address()));
  EXPECT_GE(source_of(*endpoint).port, 32768);
  const Binding binding = endpoint->binding();
  EXPECT_NE(binding.verbs, nullptr);
  EXPECT_EQ(binding.port_num, 1);
  EXPECT_TRUE(same(binding.addr.addr.ibaddr.sgid, a.address().gid()));
  EXPECT_TRUE(same(binding.addr.addr.ibaddr.dgid, b.address().gid()));
}

TEST_F(Resolving, AsksForTheNeighbourWithTheCallersTimeout) {
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);

  ASSERT_EQ(a.network.asked.size(), 1u);
  EXPECT_TRUE(a.network.asked[0].route.next_hop.same_ip(b.address()));
  EXPECT_EQ(a.network.asked[0].timeout, 2s);
}

TEST_F(Resolving, MissingRouteIsToldAtOnceAndTheEndpointMayTryAgain) {
  EXPECT_EQ(resolve(*endpoint, Address::ipv4(0xc0000201, kPort)), ENETUNREACH);
  settle();
  EXPECT_TRUE(a.events.events.empty());

  EXPECT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
}

TEST_F(Resolving, SilentNeighbourIsAnAddressErrorAndTheEndpointMayTryAgain) {
  a.network.answer = ETIMEDOUT;
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  settle();
  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ETIMEDOUT);

  a.network.answer = 0;
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  settle();
  (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST_F(Resolving, RouteOverAnInterfaceWithoutHcaIsAnAddressError) {
  ASSERT_EQ(resolve(*endpoint, b.address(1, kPort)), 0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

TEST_F(Resolving, HcaWithoutTheSourceAsGidIsAnAddressError) {
  a.hcas[0]->set_gid(1, ibv_gid{});
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

TEST_F(Resolving, SecondCallWhileOneRunsOrAfterSuccessIsInvalid) {
  a.network.answer.reset();
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  EXPECT_EQ(resolve(*endpoint, b.address(0, kPort)), EINVAL);

  a.transport->on_neighbour(a.network.asked[0].token, 0);

  EXPECT_EQ(resolve(*endpoint, b.address(0, kPort)), EINVAL);
}

TEST_F(Resolving, DestroyCancelsTheQuestionAndALateAnswerIsIgnored) {
  a.network.answer.reset();
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  const NeighbourToken token = a.network.asked[0].token;

  endpoint.reset();
  EXPECT_EQ(a.network.cancelled, std::vector{token});
  endpoint = a.endpoint();
  a.transport->on_neighbour(token, 0);
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Resolving, GivenSourceIsBoundFirst) {
  EXPECT_EQ(resolve_from(*endpoint, a.address(0, 5000), b.address(0, kPort)), 0);

  EXPECT_EQ(source_of(*endpoint), a.address(0, 5000));
}

TEST_F(Resolving, ForeignSourceIsNotAvailable) {
  EXPECT_EQ(resolve_from(*endpoint, b.address(0, 5000), b.address(0, kPort)), EADDRNOTAVAIL);
}

TEST_F(Resolving, SourceIsIgnoredOnABoundEndpoint) {
  const Sockaddr local(a.address(0, 5000));
  ASSERT_TRUE(endpoint->bind(local.get()));

  EXPECT_EQ(resolve_from(*endpoint, b.address(0, 6000), b.address(0, kPort)), 0);

  EXPECT_EQ(source_of(*endpoint), a.address(0, 5000));
}

TEST_F(Resolving, FamiliesMustAgree) {
  EXPECT_EQ(resolve_from(*endpoint, Address::wildcard(AF_INET6), b.address(0, kPort)), EINVAL);
}

TEST_F(Resolving, OwnAddressNeedsNoNeighbour) {
  a.network.answer = ETIMEDOUT;
  ASSERT_EQ(resolve(*endpoint, a.address(0, kPort)), 0);
  settle();

  (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_TRUE(a.network.asked.empty());
}

TEST_F(Resolving, RouteIsThePathOfTheProfileAndThePorts) {
  const std::uint8_t tos = 0x20;
  ASSERT_TRUE(endpoint->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, {&tos, 1}));
  EXPECT_EQ(endpoint->path(), nullptr);
  ASSERT_EQ(resolve_from(*endpoint, a.address(0, 5000), b.address(0, kPort)), 0);
  settle();
  ASSERT_TRUE(endpoint->resolve_route(2s));
  settle();

  EXPECT_EQ(a.events.types(),
            (std::vector{RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED}));
  const ibv_sa_path_rec* path = endpoint->path();
  ASSERT_NE(path, nullptr);
  EXPECT_TRUE(same(path->sgid, a.address().gid()));
  EXPECT_TRUE(same(path->dgid, b.address().gid()));
  EXPECT_EQ(path->packet_life_time, 18);
  EXPECT_EQ(path->mtu, IBV_MTU_4096);
  EXPECT_EQ(path->traffic_class, tos);
  EXPECT_EQ(path->flow_label, htonl(5000 * 31 + kPort));
  EXPECT_EQ(path->pkey, 0xffff);
}

TEST_F(Resolving, AckTimeoutBeforeTheRouteIsThePacketLifetime) {
  const std::uint8_t timeout = 15;
  ASSERT_TRUE(endpoint->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, {&timeout, 1}));
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);
  settle();
  ASSERT_TRUE(endpoint->resolve_route(2s));
  settle();

  EXPECT_EQ(endpoint->path()->packet_life_time, 14);
}

TEST_F(Resolving, ABoundDeviceThatTheRouteDoesNotLeaveByIsAnError) {
  a.add_device(1);
  ASSERT_EQ(resolve_from(*endpoint, a.address(0), b.address(1, kPort)), 0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

TEST_F(Resolving, RouteNeedsAnAddressAndATimeout) {
  EXPECT_EQ(errno_of(endpoint->resolve_route(2s)), EINVAL);
  ASSERT_EQ(resolve(*endpoint, b.address(0, kPort)), 0);

  settle();

  EXPECT_EQ(errno_of(endpoint->resolve_route(0ms)), EINVAL);
  EXPECT_EQ(errno_of(endpoint->resolve_route(-1ms)), 0) << "cma.c:rdma_resolve_route";
}

class Loopback : public Resolving {
 protected:
  void TearDown() override {
    Resolving::TearDown();
    a.events.requests.clear();
  }
  void connect_over(const Address& destination) {
    ASSERT_EQ(resolve(*endpoint, destination), 0);
    settle();
    ASSERT_TRUE(endpoint->resolve_route(2s));
    settle();
    ASSERT_TRUE(endpoint->connect({}));
    settle();
  }
  const std::vector<rdma_cm_event_type> kArrived{
      RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST};
};

TEST_F(Loopback, ConnectsToAWildcardListener) {
  auto server = listener(a, Address::ipv4(0, kPort));

  connect_over(Address::ipv4(0x7f000001, kPort));

  EXPECT_EQ(a.events.types(), kArrived);
  EXPECT_EQ(source_of(*endpoint).same_ip(Address::loopback(AF_INET)), true);
  EXPECT_EQ(source_of(*a.events.requests[0]), Address::ipv4(0x7f000001, kPort));
}

TEST_F(Loopback, ConnectsToALoopbackListener) {
  auto server = listener(a, Address::ipv4(0x7f000001, kPort));

  connect_over(Address::ipv4(0x7f000001, kPort));

  EXPECT_EQ(a.events.types(), kArrived);
}

TEST_F(Loopback, WildcardDestinationIsThisHost) {
  auto server = listener(a, Address::ipv4(0, kPort));

  connect_over(Address::ipv4(0, kPort));

  EXPECT_EQ(a.events.types(), kArrived);
}

TEST_F(Loopback, OwnAddressReachesAWildcardListener) {
  auto server = listener(a, Address::ipv4(0, kPort));

  connect_over(a.address(0, kPort));

  EXPECT_EQ(a.events.types(), kArrived);
}

TEST_F(Loopback, DoesNotReachAListenerOnAnotherAddress) {
  auto server = listener(a, a.address(0, kPort));

  connect_over(Address::ipv4(0x7f000001, kPort));

  EXPECT_EQ(a.events.events.back().type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(a.events.events.back().status, 28);
}

TEST_F(Loopback, PrefersADeviceWithAnActivePort) {
  a.hcas[0]->set_port_state(IBV_PORT_DOWN);
  verbs::soft::Hca& second = a.add_device(1);
  ASSERT_EQ(resolve(*endpoint, Address::ipv4(0x7f000001, kPort)), 0);

  EXPECT_EQ(endpoint->binding().verbs->device, second.device());
}

TEST_F(Loopback, Ipv6LoopbackConnectsToo) {
  auto server = a.endpoint();
  Address any6 = Address::wildcard(AF_INET6);
  any6.port = kPort;
  const Sockaddr local(any6);
  ASSERT_TRUE(server->bind(local.get()));
  ASSERT_TRUE(server->listen(8));
  Address loopback6 = Address::loopback(AF_INET6);
  loopback6.port = kPort;

  connect_over(loopback6);

  EXPECT_EQ(a.events.types(), kArrived);
  EXPECT_EQ(source_of(*a.events.requests[0]), loopback6);
}

class RoutedLoopback : public World {
 protected:
  RoutedLoopback() : World({.loopback_is_routed = true}) {}
};

TEST_F(RoutedLoopback, LoopbackAddressesAreOtherHostsThere) {
  auto endpoint = b.endpoint();
  const Sockaddr to(Address::ipv4(0x7f000009, kPort));

  const auto resolved = endpoint->resolve_address(nullptr, to.get(), std::chrono::seconds(1));

  EXPECT_EQ(resolved.error(), verbs::errno_code(ENETUNREACH)) << "as the network says";
}

class LoopbackWithDevice : public World {
 protected:
  LoopbackWithDevice() : World({.loopback_has_device = true}) {}
};

TEST_F(LoopbackWithDevice, WhoIsBoundToLoopbackShowsADevice) {
  auto endpoint = b.endpoint();
  const Sockaddr local(Address::ipv4(INADDR_LOOPBACK, kPort));
  ASSERT_TRUE(endpoint->bind(local.get()));
  EXPECT_NE(endpoint->binding().verbs, nullptr);

  auto any = b.endpoint();
  const Sockaddr wildcard(Address::wildcard(AF_INET));
  ASSERT_TRUE(any->bind(wildcard.get()));
  EXPECT_EQ(any->binding().verbs, nullptr) << "may become any";
}

TEST_F(LoopbackWithDevice, FromThereOtherHostsAreReached) {
  auto endpoint = b.endpoint();
  const Sockaddr local(Address::ipv4(INADDR_LOOPBACK));
  ASSERT_TRUE(endpoint->bind(local.get()));
  const Sockaddr to(address_of(1, 0, kPort));
  ASSERT_TRUE(endpoint->resolve_address(nullptr, to.get(), std::chrono::seconds(1)));
  settle();
  (void)b.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST_F(RoutedLoopback, TheWildcardStillMeansThisHost) {
  auto endpoint = b.endpoint();
  const Sockaddr to(Address::ipv4(0, kPort));
  ASSERT_TRUE(endpoint->resolve_address(nullptr, to.get(), std::chrono::seconds(1)));
  settle();
  (void)b.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
