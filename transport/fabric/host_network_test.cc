#include "transport/fabric/host_network.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <thread>

#include "transport/fabric/rendezvous/config.h"

namespace anyrdma::transport::fabric {
namespace {

using soft::Address;

constexpr std::uint32_t kMine = 0xc0000201;    // 192.0.2.1
constexpr std::uint32_t kTheirs = 0xc0000202;  // 192.0.2.2

Address link_local() {
  Address address;
  address.family = AF_INET6;
  address.scope = 3;
  address.ip = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xfc, 0, 0xff, 0xfe, 0, 0, 1};
  return address;
}

bool is(const ibv_gid& gid, const Address& address) {
  const ibv_gid wanted = address.gid();
  return std::memcmp(gid.raw, wanted.raw, sizeof gid.raw) == 0;
}

HostAddresses machine() {
  return {.all = {Address::loopback(AF_INET), Address::loopback(AF_INET6), Address::ipv4(kMine),
                  link_local()},
          .interface = 3};
}

TEST(HostAddresses, OfThisMachineIncludeLoopback) {
  const HostAddresses here = HostAddresses::read();

  EXPECT_GT(here.interface, 0);
  HostNetwork network(here);
  EXPECT_TRUE(network.interface_of(Address::loopback(AF_INET)));
  EXPECT_TRUE(network.interface_of(Address::loopback(AF_INET6)));
}

TEST(HostAddresses, TheGidTableStartsWithLinkLocalAndLoopback) {
  const auto gids = machine().gids(16);

  ASSERT_EQ(gids.size(), 4u);
  EXPECT_TRUE(is(gids[0], link_local()));
  EXPECT_TRUE(is(gids[1], Address::loopback(AF_INET)));
  EXPECT_TRUE(is(gids[2], Address::ipv4(kMine)));
  EXPECT_TRUE(is(gids[3], Address::loopback(AF_INET6)));
}

TEST(HostAddresses, AMachineWithoutALinkLocalAddressGetsOneForItsTable) {
  const auto gids = HostAddresses{.all = {Address::loopback(AF_INET)}}.gids(16);

  ASSERT_EQ(gids.size(), 2u);
  EXPECT_TRUE(Address::from_gid(gids[0]).is_link_local());
  EXPECT_TRUE(is(gids[1], Address::loopback(AF_INET)));
}

TEST(HostAddresses, TheTableHasItsSizeAndKeepsTheFirstTwo) {
  HostAddresses many = machine();
  for (std::uint32_t i = 0; i < 40; ++i) {
    many.all.push_back(Address::ipv4(kTheirs + i));
    many.all.push_back(link_local());
  }

  const auto gids = many.gids(16);

  ASSERT_EQ(gids.size(), 16u);
  EXPECT_TRUE(is(gids[0], link_local()));
  EXPECT_TRUE(is(gids[1], Address::loopback(AF_INET)));
}

TEST(HostNetwork, OwnAddressesAreLocalAndOnTheOneInterface) {
  HostNetwork network(machine());

  for (const Address& own : {Address::ipv4(kMine), link_local()}) {
    const soft::Route route = network.route(nullptr, own).value();
    EXPECT_TRUE(route.local);
    EXPECT_EQ(route.interface, 3);
    EXPECT_TRUE(route.source.same_ip(own));
    EXPECT_EQ(network.interface_of(own).value(), 3);
  }
}

TEST(HostNetwork, EachDeviceHasItsAddressesAndInterface) {
  HostNetwork network(machine(), 3);
  const Address second = Address::ipv4(0x7f000101);
  const Address third = Address::ipv4(0x7f000201);

  EXPECT_EQ(network.rails(), 3u);
  EXPECT_EQ(network.rail_of(Address::ipv4(kMine).gid()), 0u);
  EXPECT_EQ(network.rail_of(second.gid()), 1u);
  EXPECT_EQ(network.rail_of(third.gid()), 2u);
  EXPECT_EQ(network.rail_of(Address::ipv4(kTheirs).gid()), std::nullopt);
  EXPECT_NE(network.interface(1), network.interface(2));
  EXPECT_EQ(network.route(nullptr, third)->interface, network.interface(2));
  EXPECT_EQ(network.route(&second, third)->interface, network.interface(1));
  EXPECT_EQ(network.interface_of(third).value(), network.interface(2));
}

TEST(HostNetwork, NoTwoDevicesShareAGid) {
  HostNetwork network(HostAddresses{.all = {Address::loopback(AF_INET)}}, kRailsMax);
  std::vector<ibv_gid> all;
  for (std::size_t device = 0; device < network.rails(); ++device)
    for (const ibv_gid& gid : network.gids(16, device)) all.push_back(gid);

  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t other = i + 1; other < all.size(); ++other)
      EXPECT_NE(std::memcmp(all[i].raw, all[other].raw, sizeof all[i].raw), 0)
          << i << ", " << other;
}

TEST(HostNetwork, TheScopeOfAnOwnAddressDoesNotMatter) {
  HostNetwork network(machine());
  Address other_scope = link_local();
  other_scope.scope = 9;

  EXPECT_TRUE(network.interface_of(other_scope));
}

TEST(HostNetwork, ABoundSourceIsKeptAndMustBeOurs) {
  HostNetwork network(machine());
  const Address mine = Address::ipv4(kMine);
  const Address theirs = Address::ipv4(kTheirs);

  EXPECT_TRUE(network.route(&mine, mine)->source.same_ip(mine));
  EXPECT_EQ(network.route(&theirs, mine).error().value(), EADDRNOTAVAIL);
  EXPECT_EQ(network.interface_of(theirs).error().value(), EADDRNOTAVAIL);
}

TEST(HostNetwork, AGroupIsReachedFromWhateverAddressIsBound) {
  HostNetwork network(machine());
  const Address mine = Address::ipv4(kMine);
  const Address group = Address::ipv4(0xef010101);

  const soft::Route route = network.route(&mine, group).value();

  EXPECT_FALSE(route.local);
  EXPECT_TRUE(route.source.same_ip(mine));
  EXPECT_TRUE(route.destination.same_ip(group));
}

TEST(HostNetwork, AGroupNeedsNoRoute) {
  const HostAddresses mine = machine();
  std::thread lonely([&mine] {
    // Nothing but a loopback interface, which is down. Ordinary users may not ask for that.
    if (::unshare(CLONE_NEWNET) != 0) return;
    HostNetwork network(mine);

    EXPECT_FALSE(network.route(nullptr, Address::ipv4(kTheirs)));
    EXPECT_TRUE(network.route(nullptr, Address::ipv4(0xef010101)));
  });
  lonely.join();
}

TEST(HostNetwork, OthersAreNotLocal) {
  HostNetwork network(machine());

  const auto route = network.route(nullptr, Address::ipv4(kTheirs));

  if (route) {
    EXPECT_FALSE(route->local);
  } else {
    EXPECT_TRUE(route.error().value() == ENETUNREACH || route.error().value() == EHOSTUNREACH);
  }
}

}  // namespace
}  // namespace anyrdma::transport::fabric
