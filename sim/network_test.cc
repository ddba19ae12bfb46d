// Routes, neighbours and links of simulated hosts.
#include <gtest/gtest.h>

#include <endian.h>

#include <cerrno>
#include <cstring>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

Result<void> resolve(cm::Id& id, const Address& to) {
  const sockaddr_storage address = to.to_sockaddr();
  return id.resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience);
}

class SimulatedNetwork : public ::testing::Test {
 protected:
  World world{1};
  Host& client_host = world.add_host(
      "client", HostOptions{.interfaces = {{.addresses = {"10.0.0.1/24", "2001:db8::1"}},
                                           {.addresses = {"10.0.1.1/24"}, .rdma = false}},
                            .unreachable = {"198.51.100.0/24"}});
  Host& server_host = world.add_host(
      "server", HostOptions{.interfaces = {{.addresses = {"10.0.0.2", "2001:db8::2"}},
                                           {.addresses = {"10.0.1.2"}}}});
  Program client{client_host};
};

TEST_F(SimulatedNetwork, ANeighbourAnswersAfterARoundTripAndIsKnownAfterwards) {
  const auto first = client.resolve(server_host.address(kPort));
  const Instant after_first = world.now();
  const auto second = client.resolve(server_host.address(kPort));

  EXPECT_EQ(after_first, Instant(std::chrono::microseconds(4)));
  EXPECT_EQ(world.now(), after_first);
}

TEST_F(SimulatedNetwork, NobodyThereIsAnAddressErrorAfterTheTimeout) {
  const auto id = client.make_id();
  EXPECT_TRUE(resolve(*id, Address::ipv4(0x0a0000fe, kPort)));

  const Seen seen = client.expect(RDMA_CM_EVENT_ADDR_ERROR);

  EXPECT_EQ(seen.status, -ETIMEDOUT);
  EXPECT_EQ(seen.when, Instant(kPatience));
}

TEST_F(SimulatedNetwork, NoRouteIsRefusedAtOnce) {
  const auto id = client.make_id();

  EXPECT_EQ(resolve(*id, Address::ipv4(0xcb007101, kPort)).error().value(), ENETUNREACH);
  EXPECT_EQ(resolve(*id, Address::ipv4(0xc6336401, kPort)).error().value(), EHOSTUNREACH);
}

TEST_F(SimulatedNetwork, AWayWithoutRdmaIsAnAddressError) {
  const auto id = client.make_id();
  EXPECT_TRUE(resolve(*id, server_host.address(kPort, 1)));

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

TEST_F(SimulatedNetwork, ALinkThatIsDownHidesTheNeighbour) {
  world.set_link(client_host, server_host, {.down = true});
  const auto id = client.make_id();
  EXPECT_TRUE(resolve(*id, server_host.address(kPort)));

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -ETIMEDOUT);
}

TEST_F(SimulatedNetwork, ANeighbourThatComesInTimeIsFoundAtTheLastLook) {
  world.set_link(client_host, server_host, {.down = true});
  const auto id = client.make_id();
  EXPECT_TRUE(resolve(*id, server_host.address(kPort)));
  world.run_for(std::chrono::seconds(1));
  world.set_link(client_host, server_host, {});

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_RESOLVED).when, Instant(kPatience));
}

TEST_F(SimulatedNetwork, Ipv6WorksAsWell) {
  sockaddr_in6 peer{};
  peer.sin6_family = AF_INET6;
  peer.sin6_port = htobe16(kPort);
  const ibv_gid gid = server_host.hca().gids()[1];
  std::memcpy(&peer.sin6_addr, gid.raw, sizeof gid.raw);
  Program server(server_host);
  const auto listener =
      server.listen(Address::from(reinterpret_cast<const sockaddr&>(peer)).value());

  const auto id = client.resolve(Address::from(reinterpret_cast<const sockaddr&>(peer)).value());
  Pipe pipe(*id);
  const rdma_conn_param param = parameters("six");
  id->connect(&param).value();

  EXPECT_NE(server.expect_request(), nullptr);
  EXPECT_EQ(server.seen.back().data, padded("six", 56));
}

TEST_F(SimulatedNetwork, ALinkLocalAddressIsReachedByTheInterfaceItNames) {
  Host& left = world.add_host("left", {"fe80::1"});
  Host& right = world.add_host("right", {"fe80::2"});
  Program server(right);
  Program local(left);
  const auto listener = server.listen(right.address(kPort));
  ASSERT_EQ(right.address().scope, 1u);

  const auto id = local.resolve(right.address(kPort));  // both call the interface 1
  Pipe pipe(*id);
  const rdma_conn_param param = parameters("link");
  id->connect(&param).value();
  EXPECT_NE(server.expect_request(), nullptr);

  Address elsewhere = right.address(kPort);
  elsewhere.scope = 2;
  EXPECT_EQ(resolve(*local.make_id(), elsewhere).error().value(), ENETUNREACH);
}

TEST_F(SimulatedNetwork, AHostReachesItself) {
  Program server(client_host);
  const auto listener = server.listen(client_host.address(kPort));
  const auto id = client.resolve(client_host.address(kPort));
  Pipe pipe(*id);
  const rdma_conn_param param = parameters("self");
  id->connect(&param).value();

  EXPECT_NE(server.expect_request(), nullptr);
}

TEST_F(SimulatedNetwork, AnEmptyHostHasNoDevice) {
  Host& bare = world.add_host(
      "bare", HostOptions{.interfaces = {{.addresses = {"10.0.0.9"}, .rdma = false}}});

  EXPECT_EQ(cm::EventChannel::create(bare.transport()).error().value(), ENODEV);
}

TEST(Links, BandwidthMakesPacketsQueueForTheWire) {
  WorldOptions options;
  options.link.bits_per_second = 1'000'000;
  World world(1, options);
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  Program client(client_host);
  Program server(server_host);
  const auto listener = server.listen(server_host.address(kPort));
  const auto id = client.resolve(server_host.address(kPort));
  Pipe pipe(*id);
  const rdma_conn_param param = parameters("");
  const Instant start = world.now();
  id->connect(&param).value();

  const auto request = server.expect_request();

  // 280 bytes of BTH, DETH, MAD and ICRC and 66 around them, at 1 Mbit/s.
  EXPECT_EQ(world.now() - start, std::chrono::microseconds((280 + 66) * 8 + 2));
}

/// How many it takes to write three times over a connection, all posted at once.
std::uint64_t packets_of_three_writes(const LinkOptions& link) {
  WorldOptions options;
  options.link = link;
  World world(1, options);
  Program client(world.add_host("client", {"192.0.2.1"}));
  Program server(world.add_host("server", {"192.0.2.2"}));
  const auto listener = server.listen(server.host().address(kPort));
  const auto id = client.resolve(server.host().address(kPort));
  Pipe from(*id);
  const rdma_conn_param param = parameters("");
  id->connect(&param).value();
  const auto accepted = server.expect_request();
  Pipe to(*accepted);
  accepted->accept(&param).value();
  client.expect(RDMA_CM_EVENT_ESTABLISHED);
  server.expect(RDMA_CM_EVENT_ESTABLISHED);
  const std::uint64_t before = world.packets();

  for (const std::size_t at : {0u, 8u, 16u}) {
    from.post(IBV_WR_RDMA_WRITE, at, at, 8, to.address() + at, to.rkey());
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(from.wait_sent().status, IBV_WC_SUCCESS);
  return world.packets() - before;
}

TEST(Links, WhatArrivesTogetherIsAnsweredTogether) {
  EXPECT_EQ(packets_of_three_writes({}), 3u + 1u);
}

TEST(Links, WherePacketsMayBeLostEachIsAnsweredByItself) {
  EXPECT_EQ(packets_of_three_writes({.loss = 1e-18}), 3u + 3u);
}

}  // namespace
}  // namespace anyrdma::sim::testing
