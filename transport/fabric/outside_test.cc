#include "transport/fabric/outside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/system_random.h"
#include "transport/soft/port_table.h"
#include "verbs/soft/testing/fake_runtime.h"
#include "verbs/testing/errno_of.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {
namespace {

using namespace std::chrono_literals;
using soft::Address;
using soft::NeighbourToken;
using soft::Prefix;
using verbs::testing::errno_of;
using Kind = NeighbourMessage::Kind;

constexpr Slot kSelf{7};
const Address kOurs = Address::ipv4(0x0a000001);
const Address kPeer = Address::ipv4(0x0a000002);
const Address kFar = Address::ipv4(0xc0000201);
const Address kGroup = Address::ipv4(0xe0000105);

std::vector<Prefix> host() {
  return {Prefix::parse("10.0.0.1/24").value(), Prefix::parse("fd00::1/64").value(),
          Prefix::parse("fe80::ff:fe00:100/64").value()};
}

bool same(const ibv_gid& gid, const Address& address) {
  return wire::same(gid, address.gid());
}

class OutsideTest : public ::testing::Test {
 protected:
  OutsideTest() { outside.attach(*transport); }
  void ask(std::uint64_t token) {
    outside.resolve_neighbour(NeighbourToken{token}, outside.route(nullptr, kPeer).value(), 2s);
  }

  verbs::soft::testing::FakeRuntime runtime;
  realtime::SystemRandom random;
  soft::LocalPortTable ports{random, {}};
  Outside outside{{{host(), {}}}, kSelf};
  std::unique_ptr<soft::SoftTransport> transport =
      soft::SoftTransport::create(runtime, random, outside, ports);
};

// --- addresses ----------------------------------------------------------------------------------

TEST_F(OutsideTest, TheTableBeginsAsThatOfAnyHostAndEndsWithLoopback) {
  const auto gids = outside.gids(16);

  ASSERT_EQ(gids.size(), 16u);
  EXPECT_TRUE(same(gids[0], host()[2].address));
  EXPECT_TRUE(same(gids[1], kOurs));
  EXPECT_TRUE(same(gids[2], host()[1].address));
  EXPECT_TRUE(wire::same(gids[3], ibv_gid{}));  // for an address that is added
  EXPECT_TRUE(same(gids[14], Address::loopback(AF_INET)));
  EXPECT_TRUE(same(gids[15], Address::loopback(AF_INET6)));
}

TEST_F(OutsideTest, ASmallTableHasWhatFits) {
  EXPECT_EQ(outside.gids(5).size(), 5u);
  EXPECT_TRUE(same(outside.gids(5)[3], Address::loopback(AF_INET)));
  ASSERT_EQ(outside.gids(2).size(), 2u);
  EXPECT_TRUE(same(outside.gids(2)[1], kOurs));
}

TEST_F(OutsideTest, HostsDifferInTheirGuidsAndLinkLocalAddresses) {
  EXPECT_EQ(value(outside.guid()), 0x0000'00ff'fe00'0100u);
  const Outside bare({{{Prefix::parse("10.0.0.1").value()}, {}}}, kSelf);
  const Outside other({{{Prefix::parse("10.0.0.2").value()}, {}}}, kSelf);

  EXPECT_NE(bare.guid(), other.guid());
  EXPECT_TRUE(Address::from_gid(bare.gids(16)[0]).is_link_local());
  EXPECT_FALSE(same(bare.gids(16)[0], Address::from_gid(other.gids(16)[0])));
}

TEST_F(OutsideTest, OnlyOthersAddressesLeadOut) {
  for (const ibv_gid& gid : outside.own_gids()) EXPECT_FALSE(outside.leads_out(gid));
  EXPECT_FALSE(outside.leads_out(kGroup.gid())) << "a group is here as well";
  EXPECT_TRUE(outside.leads_out(kPeer.gid()));
  EXPECT_TRUE(outside.leads_out(kFar.gid()));
}

// --- routes -------------------------------------------------------------------------------------

TEST_F(OutsideTest, OwnAddressesAreLocal) {
  const soft::Route route = outside.route(nullptr, kOurs).value();

  EXPECT_TRUE(route.local);
  EXPECT_TRUE(route.source.same_ip(kOurs));
  EXPECT_EQ(outside.interface_of(kOurs).value(), route.interface);
  EXPECT_EQ(errno_of(outside.interface_of(kPeer)), EADDRNOTAVAIL);
}

TEST_F(OutsideTest, OthersAreReachedThroughTheNetworkThatTheyAreIn) {
  const soft::Route route = outside.route(nullptr, kPeer).value();
  EXPECT_FALSE(route.local);
  EXPECT_TRUE(route.source.same_ip(kOurs));
  EXPECT_EQ(errno_of(outside.route(nullptr, kFar)), ENETUNREACH);
  EXPECT_EQ(errno_of(outside.route(&kPeer, kPeer)), EADDRNOTAVAIL);

  Address neighbour = host()[2].address;
  neighbour.ip[15] = 9;
  neighbour.scope = 5;  // whatever the program calls the only link
  EXPECT_TRUE(outside.route(nullptr, neighbour)->source.is_link_local());
}

TEST_F(OutsideTest, GroupsAreReachedFromTheFirstAddressOrTheOneAskedFor) {
  EXPECT_TRUE(outside.route(nullptr, kGroup)->source.same_ip(kOurs));
  Address group = Address::wildcard(AF_INET6);
  group.ip[0] = 0xff;
  group.ip[1] = 0x0e;
  EXPECT_TRUE(outside.route(nullptr, group)->source.same_ip(host()[1].address));
  const Address second = host()[2].address;
  EXPECT_TRUE(outside.route(&second, group)->source.is_link_local());
}

// --- neighbours ---------------------------------------------------------------------------------

TEST_F(OutsideTest, TheGatewayIsAskedAndItsAnswerToldOnce) {
  ask(3);
  const auto question = outside.next_question();
  ASSERT_TRUE(question);
  EXPECT_EQ(question->kind, Kind::kQuestion);
  EXPECT_EQ(question->asker, kSelf);
  EXPECT_EQ(question->milliseconds, 2000u);
  EXPECT_TRUE(same(question->neighbour, kPeer));
  EXPECT_FALSE(outside.next_question());

  NeighbourMessage answer = *question;
  outside.on_answer(answer);
  EXPECT_FALSE(outside.has_answers()) << "our own question";
  answer.kind = Kind::kAnswer;
  outside.on_answer(answer);
  EXPECT_TRUE(outside.has_answers());
  outside.deliver_answers();
  outside.on_answer(answer);
  EXPECT_FALSE(outside.has_answers());
}

TEST_F(OutsideTest, WhatIsCancelledIsNotTold) {
  ask(3);
  NeighbourMessage answer = outside.next_question().value();
  answer.kind = Kind::kAnswer;
  outside.cancel_neighbour(NeighbourToken{3});
  outside.on_answer(answer);
  EXPECT_FALSE(outside.has_answers());
}

TEST_F(OutsideTest, WithoutAGatewayNobodyWaits) {
  ask(3);
  outside.on_gateway_gone();
  EXPECT_TRUE(outside.has_answers());
  outside.deliver_answers();
  ask(4);
  EXPECT_FALSE(outside.next_question());
}

TEST_F(OutsideTest, MessagesAreReadAsTheyAreWritten) {
  verbs::soft::PacketPool pool;
  const auto packet = pool.take();
  const NeighbourMessage message{.kind = Kind::kAnswer,
                                 .asker = kSelf,
                                 .number = 1ull << 40,
                                 .milliseconds = 5,
                                 .error = ETIMEDOUT,
                                 .neighbour = kPeer.gid()};
  message.serialize(*packet);
  EXPECT_EQ(NeighbourMessage::parse(*packet), message);

  packet->storage[1] = 2;  // no such kind
  EXPECT_FALSE(NeighbourMessage::parse(*packet));
  packet->storage[1] = 1;
  packet->storage[2] = 0xff;  // no such slot
  EXPECT_FALSE(NeighbourMessage::parse(*packet));
  packet->storage[2] = 0;
  ++packet->size;
  EXPECT_FALSE(NeighbourMessage::parse(*packet));
}

// --- the host's device --------------------------------------------------------------------------

TEST_F(OutsideTest, WhatHappensToTheDeviceWaitsForWhoeverWasCalled) {
  int called = 0;
  outside.on_change({.kind = soft::DeviceChange::Kind::kPortDown}, 0);  // nobody listens yet
  outside.set_on_changes([&called] { ++called; });
  outside.on_change({.kind = soft::DeviceChange::Kind::kNeighbourMoved,
                     .neighbour = Prefix::parse("fe80::1/64").value().address},
                    0);

  const auto changes = outside.take_changes();

  EXPECT_EQ(called, 1);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].change.kind, soft::DeviceChange::Kind::kPortDown);
  EXPECT_EQ(changes[1].change.neighbour.scope, static_cast<std::uint32_t>(outside.interface()));
  EXPECT_TRUE(outside.take_changes().empty());
}

// --- several rails ------------------------------------------------------------------------------

std::vector<Rail> two_rails() {
  return {{{Prefix::parse("10.0.0.1/24").value(), Prefix::parse("fe80::1/64").value()}, {}},
          {{Prefix::parse("10.0.1.1/24").value(), Prefix::parse("fe80::2/64").value()}, "mlx5_1"}};
}

class Rails : public ::testing::Test {
 protected:
  [[nodiscard]] int interface_to(const Address& to, const Address* from = nullptr) {
    return outside.route(from, to).value().interface;
  }
  Outside outside{two_rails(), kSelf};
};

TEST_F(Rails, EachHasADeviceAndATableOfItsOwn) {
  EXPECT_EQ(outside.device(IBV_LINK_LAYER_ETHERNET, 0).name, "anyrdma0");
  EXPECT_EQ(outside.device(IBV_LINK_LAYER_ETHERNET, 1).name, "mlx5_1");
  EXPECT_NE(outside.guid(0), outside.guid(1));
  const auto gids = outside.gids(16, 1);
  ASSERT_EQ(gids.size(), 2u);
  EXPECT_TRUE(same(gids[0], two_rails()[1].addresses[1].address));
  EXPECT_TRUE(same(gids[1], two_rails()[1].addresses[0].address));
  EXPECT_EQ(outside.rail_of(gids[1]), 1u);
  EXPECT_EQ(outside.rail_of(Address::loopback(AF_INET).gid()), 0u);
  EXPECT_FALSE(outside.rail_of(kPeer.gid()));
}

TEST_F(Rails, TheNetworkOfTheDestinationChoosesTheInterface) {
  const Address other = Address::ipv4(0x0a000102);

  EXPECT_EQ(interface_to(kPeer), outside.interface(0));
  EXPECT_EQ(interface_to(other), outside.interface(1));
  EXPECT_TRUE(outside.route(nullptr, other).value().source.same_ip(Address::ipv4(0x0a000101)));
  EXPECT_EQ(outside.interface_of(Address::ipv4(0x0a000101)).value(), outside.interface(1));
  EXPECT_EQ(errno_of(outside.route(nullptr, kFar)), ENETUNREACH);
}

TEST_F(Rails, AnAddressOfAnotherRailOfTheHostIsLocal) {
  const auto route = outside.route(&kOurs, Address::ipv4(0x0a000101)).value();

  EXPECT_TRUE(route.local);
  EXPECT_TRUE(route.source.same_ip(kOurs));
}

TEST(RailsOfOneNetwork, TheSourceChoosesTheInterface) {
  Outside outside{
      {{{Prefix::parse("10.0.0.1/24").value()}, {}}, {{Prefix::parse("10.0.0.7/24").value()}, {}}},
      kSelf};
  const Address second = Address::ipv4(0x0a000007);

  EXPECT_EQ(outside.route(nullptr, kPeer).value().interface, outside.interface(0));
  EXPECT_EQ(outside.route(&second, kPeer).value().interface, outside.interface(1));
}

TEST_F(Rails, AScopeChoosesTheInterfaceOfALinkLocalAddress) {
  Address peer = Prefix::parse("fe80::9/64").value().address;
  peer.scope = static_cast<std::uint32_t>(outside.interface(1));

  EXPECT_EQ(interface_to(peer), outside.interface(1));
}

TEST_F(Rails, AChangeOfARailThatIsNotThereHasNoEffect) {
  outside.on_change({.kind = soft::DeviceChange::Kind::kPortDown}, 1);
  outside.on_change({.kind = soft::DeviceChange::Kind::kPortDown}, 2);

  const auto changes = outside.take_changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].rail, 1u);
}

// --- addresses that change
// ------------------------------------------------------------------------

TEST_F(Rails, AnAddressThatIsAddedIsOfItsRail) {
  const Prefix added = Prefix::parse("10.0.9.1/24").value();
  const Address peer = Address::ipv4(0x0a000902);
  EXPECT_EQ(errno_of(outside.route(nullptr, peer)), ENETUNREACH);

  EXPECT_TRUE(outside.add_address(1, added));
  EXPECT_FALSE(outside.add_address(0, added));

  EXPECT_EQ(outside.rail_of(added.address.gid()), 1u);
  EXPECT_FALSE(outside.leads_out(added.address.gid()));
  EXPECT_EQ(interface_to(peer), outside.interface(1));
}

TEST_F(Rails, AnAddressThatIsDroppedIsNobodys) {
  EXPECT_FALSE(outside.drop_address(1, kOurs));  // which is the other rail's
  EXPECT_TRUE(outside.drop_address(0, kOurs));
  EXPECT_FALSE(outside.drop_address(0, kOurs));

  EXPECT_EQ(outside.rail_of(kOurs.gid()), std::nullopt);
  EXPECT_TRUE(outside.leads_out(kOurs.gid()));
  EXPECT_EQ(errno_of(outside.route(&kOurs, kPeer)), EADDRNOTAVAIL);
}

TEST_F(Rails, OfARailThatIsNotThereNothingChanges) {
  EXPECT_FALSE(outside.add_address(7, Prefix::parse("10.0.9.1/24").value()));
  EXPECT_FALSE(outside.drop_address(7, kOurs));
}

// --- the gateway's place ------------------------------------------------------------------------

TEST(GatewaySlot, IsTheGatewaysAlone) {
  testing::Scratch scratch;
  realtime::SystemRandom random;
  FabricConfig config = scratch.config();
  config.rails = {{host(), {}}};
  const auto early = Registry::join(config, random).value();
  EXPECT_NE(early->slot(), kGatewaySlot);

  const auto gateway = Registry::join(config, random, {}, Seat::kGateway).value();
  EXPECT_EQ(gateway->slot(), kGatewaySlot);
  EXPECT_EQ(Registry::join(config, random, {}, Seat::kGateway).error(),
            FabricErrc::kTooManyProcesses);
  EXPECT_NE(Registry::join(config, random).value()->slot(), kGatewaySlot);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
