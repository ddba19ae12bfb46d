// Facts 32 to 43 and 60 of docs/facts.md: ports, addresses, routes and devices.
#include <arpa/inet.h>
#include <gmock/gmock.h>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

using ::testing::SizeIs;

class Addresses : public Scenario {
 protected:
  static int bind(rdma_cm_id* id, const char* to, std::uint16_t port = kPort) {
    return error_of(rdma_bind_addr(id, Address(to, port)));
  }
  static int set(rdma_cm_id* id, int option, int value) {
    return error_of(rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof value));
  }
  static int resolve(rdma_cm_id* id, const char* to, const char* from = nullptr,
                     int timeout_ms = kPatienceMs) {
    Address destination(to);
    if (from == nullptr) return error_of(rdma_resolve_addr(id, nullptr, destination, timeout_ms));
    return error_of(rdma_resolve_addr(id, Address(from, 0), destination, timeout_ms));
  }
  /// The client asks `to`, and the server's next event is the request.
  void expect_request_to(const char* to) {
    rdma_cm_id* id = client.routed(to);
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    server.take_request();
  }
};

TEST_F(Addresses, Fact32AClashWithAWildcardIsEaddrnotavailAndBetweenEqualsEaddrinuse) {
  server.listen(kServer);

  EXPECT_EQ(bind(server.make(), kServer), EADDRINUSE);
  EXPECT_EQ(bind(server.make(), "0.0.0.0"), EADDRNOTAVAIL);
  EXPECT_EQ(bind(server.make(), "127.0.0.1"), EADDRNOTAVAIL);
  EXPECT_EQ(bind(server.make(), kServersOther), 0);

  server.listen("0.0.0.0", 1, RDMA_PS_TCP, kPort + 1);
  EXPECT_EQ(bind(server.make(), kServer, kPort + 1), EADDRNOTAVAIL);
  EXPECT_EQ(bind(server.make(), "0.0.0.0", kPort + 1), EADDRNOTAVAIL);
}

/// A server with two networks and a client in both.
class TwoNetworks : public ::testing::Test {
 protected:
  sim::World world{1};
  sim::Host& server_host =
      world.add_host("server", {.interfaces = {{.addresses = {"192.0.2.1"}},
                                               {.addresses = {"198.51.100.1"}},
                                               {.addresses = {"203.0.113.1"}, .rdma = false}}});
  sim::Host& client_host =
      world.add_host("client", {.interfaces = {{.addresses = {"192.0.2.2"}},
                                               {.addresses = {"198.51.100.2"}},
                                               {.addresses = {"203.0.113.2"}}}});
  Party server{server_host};
  Party client{client_host};

  void ask(const char* to) {
    rdma_cm_id* id = client.routed(to);
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
  }
};

TEST_F(TwoNetworks, Fact33LoopbackBindsAsAWildcardAndListensOnEveryDevice) {
  rdma_cm_id* listener = server.listen("127.0.0.1");

  ask("192.0.2.1");
  ask("198.51.100.1");

  EXPECT_EQ(listener->verbs, nullptr) << "bound to no device";
  EXPECT_STREQ(ibv_get_device_name(server.take_request()->verbs->device), "anyrdma0");
  EXPECT_STREQ(ibv_get_device_name(server.take_request()->verbs->device), "anyrdma1");
}

TEST_F(Addresses, Fact34AnIPv6WildcardBlocksIPv4AndAcceptsItsClients) {
  server.listen("::");

  EXPECT_EQ(bind(server.make(), "0.0.0.0"), EADDRNOTAVAIL);
  expect_request_to(kServer);
}

TEST_F(Addresses, Fact34WithAfonlyTheFamiliesDoNotMeet) {
  rdma_cm_id* six = server.make();
  EXPECT_EQ(set(six, RDMA_OPTION_ID_AFONLY, 1), 0);
  EXPECT_EQ(bind(six, "::"), 0);
  EXPECT_EQ(error_of(rdma_listen(six, 1)), 0);

  EXPECT_EQ(bind(server.make(), "0.0.0.0"), 0);

  rdma_cm_id* id = client.routed(kServer);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
  client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);
}

TEST_F(Addresses, Fact35TheListenersPortIsFreeAtOnceWhileItsConnectionsLive) {
  rdma_cm_id* listener = server.listen(kServer);
  expect_request_to(kServer);

  server.destroy(listener);

  server.listen(kServer);
  expect_request_to(kServer);
}

TEST_F(Addresses, Fact36TheEphemeralPortIsTakenAtResolveAddrAndSeenAfterAddrResolved) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(resolve(id, kServer), 0);
  EXPECT_EQ(client_host.ports().size(), 1u);
  EXPECT_EQ(rdma_get_src_port(id), 0);

  client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);

  EXPECT_GE(ntohs(rdma_get_src_port(id)), 32768);
  EXPECT_EQ(ntohs(rdma_get_dst_port(id)), kPort);
}

TEST_F(Addresses, Fact37ABoundIdIgnoresTheSource) {
  rdma_cm_id* id = server.make();
  EXPECT_EQ(bind(id, kServersOther), 0);

  EXPECT_EQ(resolve(id, kClient, kServer), 0);

  server.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  const auto* source = reinterpret_cast<const sockaddr_in*>(rdma_get_local_addr(id));
  EXPECT_EQ(ntohl(source->sin_addr.s_addr), 0xc0000203u);
}

TEST_F(Addresses, Fact37ASecondResolveAddrIsEinvalAfterSuccessAndAllowedAfterAnError) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(resolve(id, "192.0.2.77"), 0);
  EXPECT_EQ(resolve(id, kServer), EINVAL) << "while the first is under way";
  client.take(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);

  EXPECT_EQ(resolve(id, kServer), 0);

  client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  EXPECT_EQ(resolve(id, kServer), EINVAL);
}

TEST_F(TwoNetworks, Fact38NoRouteIsAnErrnoAndNoNeighbourOrNoDeviceIsAnEvent) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address("8.8.8.8"), 1000)), ENETUNREACH);

  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address("192.0.2.77"), 1500)), 0);
  const Instant asked = world.now();
  EXPECT_EQ(client.take(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT).when - asked, 1500ms);

  // Linux asks the neighbour first and the netdev for its device afterwards.
  rdma_cm_id* without = server.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(without, nullptr, Address("203.0.113.2"), 1000)), 0);
  server.take(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
}

TEST(AddressesRoute, Fact38AForbiddenNetworkIsEhostunreach) {
  sim::World world(1);
  sim::Host& host = world.add_host(
      "host", {.interfaces = {{.addresses = {"192.0.2.1"}}}, .unreachable = {"198.51.100.0/24"}});
  Party party(host);

  EXPECT_EQ(error_of(rdma_resolve_addr(party.make(), nullptr, Address("198.51.100.1"), 1000)),
            EHOSTUNREACH);
}

// The failure by event is InfiniBand's alone: a RoCE route fails in the call.
TEST_F(Addresses, Fact39ResolveRouteWithoutTimeIsEinvalAndMayBeRetried) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(resolve(id, kServer), 0);
  client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);

  EXPECT_EQ(error_of(rdma_resolve_route(id, 0)), EINVAL);

  EXPECT_EQ(error_of(rdma_resolve_route(id, 1)), 0);
  client.take(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

TEST_F(Addresses, Fact40ReuseaddrMayBeSetLateAndClearedOnlyInIdle) {
  rdma_cm_id* fresh = server.make();
  EXPECT_EQ(set(fresh, RDMA_OPTION_ID_REUSEADDR, 1), 0);
  EXPECT_EQ(set(fresh, RDMA_OPTION_ID_REUSEADDR, 0), 0);
  rdma_cm_id* bound = server.make();
  EXPECT_EQ(bind(bound, kServer), 0);
  EXPECT_EQ(set(bound, RDMA_OPTION_ID_REUSEADDR, 1), 0);
  EXPECT_EQ(set(bound, RDMA_OPTION_ID_REUSEADDR, 0), EINVAL);
  rdma_cm_id* listening = server.listen(kServersOther);
  EXPECT_EQ(set(listening, RDMA_OPTION_ID_REUSEADDR, 1), EINVAL);
}

TEST_F(Addresses, Fact40ListenNeedsThePortForItselfAndClearsReuseaddr) {
  rdma_cm_id* first = server.make();
  rdma_cm_id* second = server.make();
  for (rdma_cm_id* id : {first, second}) {
    EXPECT_EQ(set(id, RDMA_OPTION_ID_REUSEADDR, 1), 0);
    EXPECT_EQ(bind(id, kServer), 0);
  }
  EXPECT_EQ(error_of(rdma_listen(first, 1)), EADDRINUSE);
  server.destroy(second);
  EXPECT_EQ(error_of(rdma_listen(first, 1)), 0);

  rdma_cm_id* third = server.make();
  EXPECT_EQ(set(third, RDMA_OPTION_ID_REUSEADDR, 1), 0);
  EXPECT_EQ(bind(third, kServer), EADDRINUSE) << "the listener does not share any more";
}

TEST_F(Addresses, Fact41ListeningOnAFreshIdTakesTheWildcardAndAnEphemeralPort) {
  rdma_cm_id* id = server.make();

  EXPECT_EQ(error_of(rdma_listen(id, 1)), 0);

  const auto* local = reinterpret_cast<const sockaddr_in*>(rdma_get_local_addr(id));
  EXPECT_EQ(local->sin_family, AF_INET);
  EXPECT_EQ(local->sin_addr.s_addr, htonl(INADDR_ANY));
  const std::uint16_t port = ntohs(rdma_get_src_port(id));
  EXPECT_GE(port, 32768);
  rdma_cm_id* asking = client.routed(kServer, RDMA_PS_TCP, port);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(asking, &param)), 0);
  server.take_request();
}

// That real sockets have ports of their own is true of a simulated host because it has no sockets.
TEST_F(Addresses, Fact42ThePortSpacesAreSeparate) {
  server.listen("0.0.0.0", 1, RDMA_PS_TCP);
  server.listen("0.0.0.0", 1, RDMA_PS_UDP);
  server.listen("0.0.0.0", 1, RDMA_PS_IB);
  server.listen("0.0.0.0", 1, RDMA_PS_IPOIB);

  EXPECT_EQ(bind(server.make(RDMA_PS_UDP), "0.0.0.0"), EADDRNOTAVAIL) << "but not in themselves";
}

TEST_F(TwoNetworks, Fact43AWildcardListenerSurvivesRemovalsAndPicksUpNewDevices) {
  server.listen("0.0.0.0");
  ASSERT_TRUE(server_host.devices().remove("anyrdma0"));
  ASSERT_TRUE(server_host.devices().plug("eth2"));
  server.expect_silence(1s);

  ask("203.0.113.1");

  EXPECT_STREQ(ibv_get_device_name(server.take_request()->verbs->device), "anyrdma2");
}

TEST_F(Addresses, Fact60ANeighboursNewAddressIsUnreachableOnTheActiveSideEvenWhenConnected) {
  const Connection connection = connect();
  char text[8] = {};
  char message[8] = "still";
  ibv_mr* room = rdma_reg_msgs(connection.passive, text, sizeof text);
  ibv_mr* said = rdma_reg_msgs(connection.active, message, sizeof message);
  EXPECT_EQ(rdma_post_recv(connection.passive, nullptr, text, sizeof text, room), 0);

  ASSERT_TRUE(server_host.interfaces().fail_over("eth0"));

  EXPECT_EQ(client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).id, connection.active);
  EXPECT_EQ(rdma_post_send(connection.active, nullptr, message, sizeof message, said, 0), 0);
  ibv_wc completion{};
  EXPECT_EQ(rdma_get_recv_comp(connection.passive, &completion), 1) << "nothing is torn down";
  EXPECT_STREQ(text, "still");
  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);
  EXPECT_THAT(sent("client", "DREQ"), SizeIs(1)) << "the id is not used up either";
  EXPECT_EQ(rdma_dereg_mr(room), 0);
  EXPECT_EQ(rdma_dereg_mr(said), 0);
}

}  // namespace
}  // namespace anyrdma::semantics
