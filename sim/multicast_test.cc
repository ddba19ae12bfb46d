// Datagrams to groups between simulated hosts: who gets a copy, and what the links do to each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/testing/program.h"
#include "verbs/soft/wire/pcap.h"
#include "verbs/testing/datagram_member.h"

namespace anyrdma::sim::testing {
namespace {

using verbs::testing::DatagramMember;

ibv_gid group() {
  return Address::ipv4(0xef010101).gid();
}

/// Not attached to the group.
struct Outsider : DatagramMember {
  explicit Outsider(Host& host) : DatagramMember(host.hca(), host.hca().device(), 0) {}
  void send() { send_to_group(group()); }
};

struct Member : Outsider {
  explicit Member(Host& host) : Outsider(host) { attach(group()); }
};

struct Hosts {
  explicit Hosts(std::uint64_t seed, const WorldOptions& options = {}) : world(seed, options) {}
  World world;
  Host& a = world.add_host("a", {"10.0.0.1"});
  Host& b = world.add_host("b", {"10.0.0.2"});
  Host& c = world.add_host("c", {"10.0.0.3"});
};

TEST(SimulatedMulticast, ReachesEveryOtherMemberAndNotTheSender) {
  Hosts hosts(1);
  Member sender(hosts.a);
  Member neighbour(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(neighbour.received(), 1u);
  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(c.received(), 1u);
  EXPECT_EQ(hosts.a.hca().counters().unknown_group, 0u);
  EXPECT_EQ(hosts.world.packets(), 1u);
}

TEST(SimulatedMulticast, IsDroppedByDevicesWithoutAMember) {
  Hosts hosts(1);
  Outsider sender(hosts.a);
  Member b(hosts.b);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(hosts.c.hca().counters().unknown_group, 1u);
}

TEST(SimulatedMulticast, EachCopyHasTheLatencyAndTheLuckOfItsLink) {
  Hosts hosts(1);
  hosts.world.set_path(hosts.a, hosts.b, {.latency = std::chrono::milliseconds(5)});
  hosts.world.set_path(hosts.a, hosts.c, {.loss = 1.0});
  Member sender(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  hosts.world.run_for(std::chrono::milliseconds(4));
  EXPECT_EQ(hosts.b.hca().counters().packets_in, 0u);
  hosts.world.run_for(std::chrono::milliseconds(1));

  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(c.received(), 0u);
}

TEST(SimulatedMulticast, DoesNotPassALinkThatIsDown) {
  Hosts hosts(1);
  hosts.world.set_path(hosts.a, hosts.b, {.down = true});
  Member sender(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(b.received(), 0u);
  EXPECT_EQ(c.received(), 1u);
}

TEST(SimulatedMulticast, FaultsStrikeTheCopiesOfTheirWayAlone) {
  Hosts hosts(1);
  const auto plan = FaultPlan::parse(
      "on a->b packet 2: lose\n"
      "on a->c packet 1: delay 5ms\n"
      "on a->c packet 3: duplicate\n");
  ASSERT_TRUE(hosts.world.faults().inject(*plan));
  Member sender(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  for (int i = 0; i < 3; ++i) sender.send();
  hosts.world.run_for(std::chrono::milliseconds(4));
  EXPECT_EQ(hosts.c.hca().counters().packets_in, 3u) << "the second, and the third twice";
  hosts.world.run_for(std::chrono::milliseconds(2));

  EXPECT_EQ(b.received(), 2u);
  EXPECT_EQ(c.received(), 4u);
  EXPECT_TRUE(hosts.world.faults().unfired().empty()) << hosts.world.faults().report();
}

TEST(SimulatedMulticast, OfOneSeedHappensTheSameWayEachTime) {
  const auto run = [](std::uint64_t seed) {
    WorldOptions options;
    options.link.loss = 0.3;
    options.link.jitter = std::chrono::microseconds(50);
    Hosts hosts(seed, options);
    Member sender(hosts.a);
    Member b(hosts.b);
    Member c(hosts.c);
    for (int i = 0; i < 20; ++i) sender.send();
    EXPECT_TRUE(hosts.world.run());
    EXPECT_LT(b.received(), 20u);
    EXPECT_GT(b.received(), 0u);
    return hosts.world.trace().hash();
  };

  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(SimulatedMulticast, IsCapturedOnceWithTheLinkAddressOfTheGroup) {
  WorldOptions options;
  options.capture = true;
  Hosts hosts(1, options);
  Member sender(hosts.a);
  Member b(hosts.b);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  const auto file = hosts.world.capture();
  const auto records = roce::pcap::parse(file);
  ASSERT_TRUE(records.has_value());
  ASSERT_EQ(records->size(), 1u);
  constexpr std::array<std::uint8_t, 6> kGroupMac{0x01, 0x00, 0x5e, 0x01, 0x01, 0x01};
  EXPECT_TRUE(std::equal(kGroupMac.begin(), kGroupMac.end(), records->front().frame.begin()));
}

TEST(SimulatedMulticast, TraceSaysWhoDidNotWantIt) {
  Hosts hosts(1);
  Outsider sender(hosts.a);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  const std::string text = hosts.world.trace().text();
  EXPECT_NE(text.find("no member of the group"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyrdma::sim::testing
