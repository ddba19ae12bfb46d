// Multicast groups on RoCE (docs/facts.md, 56, 57 and 59).
#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>

#include "transport/soft/testing/world.h"

namespace anyrdma::transport::soft::testing {
namespace {

constexpr MembershipId kFirst{1};
constexpr MembershipId kSecond{2};

Address group(const char* text) {
  in6_addr six{};
  if (inet_pton(AF_INET6, text, &six) == 1) {
    Address address{.family = AF_INET6};
    std::memcpy(address.ip.data(), &six, sizeof six);
    return address;
  }
  in_addr four{};
  EXPECT_EQ(inet_pton(AF_INET, text, &four), 1);
  return Address::ipv4(ntohl(four.s_addr));
}

class Multicast : public World {
 protected:
  std::unique_ptr<Endpoint> bound(rdma_port_space space = RDMA_PS_UDP) {
    auto endpoint = a.endpoint(space);
    const Sockaddr local(a.address(0, kPort));
    EXPECT_TRUE(endpoint->bind(local.get()));
    return endpoint;
  }
  static int join(Endpoint& endpoint, const Address& address, MembershipId id = kFirst,
                  JoinState state = JoinState::kFullMember) {
    const Sockaddr to(address);
    const Result<void> joined = endpoint.join_multicast(to.get(), id, state);
    return joined ? 0 : joined.error().value();
  }
  static int leave(Endpoint& endpoint, MembershipId id) {
    const Result<void> left = endpoint.leave_multicast(id);
    return left ? 0 : left.error().value();
  }
};

TEST_F(Multicast, AnIpv4GroupIsReportedLaterWithItsMappedGid) {
  auto endpoint = bound();

  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);
  EXPECT_TRUE(a.events.events.empty());
  settle();

  const Seen seen = a.events.only(RDMA_CM_EVENT_MULTICAST_JOIN);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.membership, kFirst);
  EXPECT_TRUE(seen.private_data.empty());
  ASSERT_TRUE(seen.ud);
  EXPECT_EQ(seen.ud->qp_num, 0xffffffu);
  EXPECT_EQ(seen.ud->qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
  EXPECT_EQ(seen.ud->ah_attr.is_global, 1);
  EXPECT_EQ(seen.ud->ah_attr.dlid, 0);
  EXPECT_EQ(seen.ud->ah_attr.port_num, 1);
  EXPECT_EQ(seen.ud->ah_attr.grh.hop_limit, 64);
  EXPECT_EQ(seen.ud->ah_attr.grh.sgid_index, 1);
  EXPECT_EQ(0, std::memcmp(seen.ud->ah_attr.grh.dgid.raw, group("::ffff:239.1.2.3").ip.data(), 16));
}

TEST_F(Multicast, AFullMembersHostIsAMemberUntilItLeavesOrEnds) {
  auto endpoint = bound();
  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);
  ASSERT_EQ(join(*endpoint, group("239.1.2.4"), kSecond), 0);
  ASSERT_EQ(a.network.groups.size(), 2u);
  EXPECT_EQ(a.network.groups[0], std::pair(a.address(), group("239.1.2.3")));

  EXPECT_EQ(leave(*endpoint, kFirst), 0);
  ASSERT_EQ(a.network.groups.size(), 1u);
  EXPECT_EQ(a.network.groups[0].second, group("239.1.2.4"));

  endpoint.reset();
  EXPECT_TRUE(a.network.groups.empty());
}

TEST_F(Multicast, WhoOnlySendsMakesNoMemberOfItsHost) {
  auto endpoint = bound();
  ASSERT_EQ(join(*endpoint, group("239.1.2.3"), kFirst, JoinState::kSendOnlyFullMember), 0);
  EXPECT_TRUE(a.network.groups.empty());
  EXPECT_EQ(leave(*endpoint, kFirst), 0);
}

TEST_F(Multicast, WhatTheHostRefusesIsNotJoined) {
  auto endpoint = bound();
  a.network.join_error = ENOBUFS;
  EXPECT_EQ(join(*endpoint, group("239.1.2.3")), ENOBUFS);
  settle();
  EXPECT_TRUE(a.events.events.empty());
  EXPECT_EQ(leave(*endpoint, kFirst), EADDRNOTAVAIL);
}

TEST_F(Multicast, AResolvedAddressIsEarlyEnoughARouteIsNot) {
  auto endpoint = a.endpoint(RDMA_PS_UDP);
  const Sockaddr to(b.address(0, kPort));
  ASSERT_TRUE(endpoint->resolve_address(nullptr, to.get(), std::chrono::seconds(1)));
  settle();
  EXPECT_EQ(join(*endpoint, group("239.1.2.3")), 0);

  ASSERT_TRUE(endpoint->resolve_route(std::chrono::seconds(1)));

  EXPECT_EQ(join(*endpoint, group("239.1.2.3"), kSecond), EINVAL);
}

TEST_F(Multicast, WhoHasNoDeviceJoinsNothing) {
  auto fresh = a.endpoint(RDMA_PS_UDP);
  EXPECT_EQ(join(*fresh, group("239.1.2.3")), EINVAL);

  const Sockaddr any(Address::ipv4(0, kPort));
  ASSERT_TRUE(fresh->bind(any.get()));
  EXPECT_EQ(join(*fresh, group("239.1.2.3")), EINVAL);
}

TEST_F(Multicast, ConnectedServicesJoinNothing) {
  EXPECT_EQ(join(*bound(RDMA_PS_TCP), group("239.1.2.3")), EINVAL);
  EXPECT_EQ(leave(*bound(RDMA_PS_TCP), kFirst), EADDRNOTAVAIL);
}

TEST_F(Multicast, AListenerJoinsNothing) {
  auto endpoint = bound();
  ASSERT_TRUE(endpoint->listen(8));

  EXPECT_EQ(join(*endpoint, group("239.1.2.3")), EINVAL);
}

TEST_F(Multicast, TheWildcardIsNoGroup) {
  auto endpoint = bound();

  EXPECT_EQ(join(*endpoint, group("0.0.0.0")), EINVAL);
  EXPECT_EQ(join(*endpoint, group("::")), EINVAL);
  sockaddr unknown{};
  unknown.sa_family = AF_UNIX;
  EXPECT_EQ(endpoint->join_multicast(unknown, kFirst, JoinState::kFullMember).error(),
            verbs::errno_code(EINVAL));
}

TEST_F(Multicast, AnIpv6GroupIsBeyondRoceVersionTwo) {
  auto endpoint = bound();

  EXPECT_EQ(join(*endpoint, group("ff02::1234")), 524);
  settle();

  EXPECT_TRUE(a.events.events.empty());
  EXPECT_EQ(leave(*endpoint, kFirst), EADDRNOTAVAIL);
}

TEST_F(Multicast, SendOnlyMembersAreToldTheSame) {
  auto endpoint = bound();

  ASSERT_EQ(join(*endpoint, group("239.1.2.3"), kFirst, JoinState::kSendOnlyFullMember), 0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_MULTICAST_JOIN).ud->qp_num, 0xffffffu);
}

TEST_F(Multicast, OneGroupTwiceIsTwoMemberships) {
  auto endpoint = bound();

  ASSERT_EQ(join(*endpoint, group("239.1.2.3"), kFirst), 0);
  ASSERT_EQ(join(*endpoint, group("239.1.2.3"), kSecond), 0);
  settle();

  ASSERT_EQ(a.events.events.size(), 2u);
  EXPECT_EQ(a.events.events[0].membership, kFirst);
  EXPECT_EQ(a.events.events[1].membership, kSecond);
  EXPECT_EQ(leave(*endpoint, kFirst), 0);
  EXPECT_EQ(leave(*endpoint, kFirst), EADDRNOTAVAIL);
  EXPECT_EQ(leave(*endpoint, kSecond), 0);
}

TEST_F(Multicast, LeavingBeforeTheEventCancelsIt) {
  auto endpoint = bound();
  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);

  EXPECT_EQ(leave(*endpoint, kFirst), 0);
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Multicast, DestroyingBeforeTheEventCancelsIt) {
  auto endpoint = bound();
  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);

  endpoint.reset();
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

// The address handle cannot be built without the endpoint's own GID (kernel: cma_make_mc_event).
TEST_F(Multicast, AnAddressThatLeftTheDeviceIsAnErrorThatWaitsToBeLeft) {
  auto endpoint = bound();
  a.hcas[0]->set_gid(1, ibv_gid{});

  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);
  settle();

  const Seen seen = a.events.only(RDMA_CM_EVENT_MULTICAST_ERROR);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.membership, kFirst);
  EXPECT_FALSE(seen.ud);
  EXPECT_EQ(leave(*endpoint, kFirst), 0);
}

TEST_F(Multicast, ARemovedDeviceTakesTheMembershipsAlong) {
  auto endpoint = bound();
  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);

  a.transport->remove_device(*a.hcas[0]);
  settle();

  (void)a.events.only(RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(join(*endpoint, group("239.1.2.3"), kSecond), ENXIO);
  EXPECT_EQ(leave(*endpoint, kFirst), ENXIO);
}

TEST_F(Multicast, TheGroupsQkeyIsTheQueuePairs) {
  auto endpoint = bound(RDMA_PS_UDP);
  ASSERT_EQ(join(*endpoint, group("239.1.2.3")), 0);

  EXPECT_EQ(endpoint->qp_transition(IBV_QPS_INIT)->attr.qkey,
            static_cast<std::uint32_t>(RDMA_UDP_QKEY));
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
