// Multicast groups: who gets a copy, and what attaching allows.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::DatagramPair;
using testing::kGrh;
using testing::Side;

constexpr std::uint32_t kEverybody = 0xffffff;

// 239.1.1.last as Linux writes it for RoCE v2.
ibv_gid ipv4_group(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 239;
  gid.raw[13] = gid.raw[14] = 1;
  gid.raw[15] = last;
  return gid;
}

ibv_gid ipv6_group() {
  ibv_gid gid{};
  gid.raw[0] = 0xff;
  gid.raw[1] = 0x0e;
  gid.raw[15] = 0x42;
  return gid;
}

class Multicast : public DatagramPair {
 protected:
  Multicast() : to_group(a.hca->create_ah(a.pd, path_to(ipv4_group(1))).value()) {}
  ~Multicast() override { a.hca->destroy_ah(to_group).value(); }

  static int attach(Side& side, ibv_qp* qp, const ibv_gid& group) {
    const auto result = side.hca->attach_mcast(qp, group, 0);
    return result ? 0 : result.error().value();
  }
  static int detach(Side& side, ibv_qp* qp, const ibv_gid& group) {
    const auto result = side.hca->detach_mcast(qp, group, 0);
    return result ? 0 : result.error().value();
  }
  int send_to_group(ibv_ah* ah = nullptr) {
    return send(1, 10, {.qpn = kEverybody, .ah = ah != nullptr ? ah : to_group});
  }
  static int post_to(Side& side, ibv_qp* qp, std::uint64_t id, std::size_t offset) {
    ibv_qp* const usual = std::exchange(side.qp, qp);
    const int result = side.post_recv(id, offset, 200);
    side.qp = usual;
    return result;
  }

  ibv_ah* to_group;
};

TEST_F(Multicast, EveryAttachedQueuePairGetsItsOwnCopy) {
  ibv_qp* second = make_qp(b);
  ibv_qp* stranger = make_qp(b);
  ibv_qp* neighbour = make_qp(a);
  for (ibv_qp* qp : {b.qp, second}) ASSERT_EQ(attach(b, qp, ipv4_group(1)), 0);
  ASSERT_EQ(attach(a, neighbour, ipv4_group(1)), 0);
  ASSERT_EQ(attach(b, stranger, ipv4_group(2)), 0);
  ASSERT_EQ(post_to(b, b.qp, 1, 1000), 0);
  ASSERT_EQ(post_to(b, second, 2, 2000), 0);
  ASSERT_EQ(post_to(b, stranger, 3, 3000), 0);
  ASSERT_EQ(post_to(a, neighbour, 4, 4000), 0);
  a.fill(0, 10, 9);

  ASSERT_EQ(send_to_group(), 0);
  carry();

  const auto at_b = b.poll();
  ASSERT_EQ(at_b.size(), 2u);
  EXPECT_EQ(at_b[0].wr_id, 1u);  // in order of attaching
  EXPECT_EQ(at_b[1].wr_id, 2u);
  EXPECT_EQ(at_b[0].src_qp, a.qp->qp_num);
  EXPECT_TRUE(b.filled(1000 + kGrh, 10, 9));
  EXPECT_TRUE(b.filled(2000 + kGrh, 10, 9));
  const auto at_a = a.poll();
  ASSERT_EQ(at_a.size(), 2u);  // the send's completion, and the copy of the neighbour
  EXPECT_EQ(at_a[1].wr_id, 4u);
  EXPECT_TRUE(a.filled(4000 + kGrh, 10, 9));
  for (ibv_qp* qp : {b.qp, second}) ASSERT_EQ(detach(b, qp, ipv4_group(1)), 0);
  ASSERT_EQ(detach(b, stranger, ipv4_group(2)), 0);
  ASSERT_EQ(detach(a, neighbour, ipv4_group(1)), 0);
  for (ibv_qp* qp : {second, stranger}) b.hca->destroy_qp(qp).value();
  a.hca->destroy_qp(neighbour).value();
}

TEST_F(Multicast, SenderThatIsAMemberHearsNothingOfItself) {
  ASSERT_EQ(attach(a, a.qp, ipv4_group(1)), 0);
  ASSERT_EQ(a.post_recv(1, 1000, 200), 0);

  ASSERT_EQ(send_to_group(), 0);
  carry();

  EXPECT_EQ(only_completion(a).opcode, IBV_WC_SEND);
  EXPECT_EQ(detach(a, a.qp, ipv4_group(1)), 0);
}

TEST_F(Multicast, GroupWithoutMembersIsDroppedAndCounted) {
  ASSERT_EQ(send_to_group(), 0);
  carry();

  EXPECT_EQ(b.hca->counters().unknown_group, 1u);
}

TEST_F(Multicast, MemberWithAnotherQueueKeyMissesIt) {
  ibv_qp* other = make_qp(b, 0x2222);
  ASSERT_EQ(attach(b, other, ipv4_group(1)), 0);
  ASSERT_EQ(post_to(b, other, 1, 0), 0);

  ASSERT_EQ(send_to_group(), 0);
  carry();

  EXPECT_EQ(b.hca->counters().bad_queue_key, 1u);
  EXPECT_TRUE(b.poll().empty());
  ASSERT_EQ(detach(b, other, ipv4_group(1)), 0);
  b.hca->destroy_qp(other).value();
}

TEST_F(Multicast, WorksForIpv6GroupsAndEndsWithTheLastDetach) {
  ibv_ah* ah = a.hca->create_ah(a.pd, path_to(ipv6_group())).value();
  ASSERT_EQ(attach(b, b.qp, ipv6_group()), 0);
  for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(b.post_recv(i, 0, 200), 0);
  ASSERT_EQ(send_to_group(ah), 0);
  carry();
  EXPECT_EQ(only_completion(b).status, IBV_WC_SUCCESS);

  ASSERT_EQ(detach(b, b.qp, ipv6_group()), 0);
  ASSERT_EQ(send_to_group(ah), 0);
  carry();

  EXPECT_TRUE(b.poll().empty());
  a.hca->destroy_ah(ah).value();
}

TEST_F(Multicast, DatagramToTheGroupsNumberAtAnOrdinaryAddressIsDropped) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10, {.qpn = kEverybody}), 0);
  carry();

  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().unknown_group, 1u);
  ASSERT_EQ(detach(b, b.qp, ipv4_group(1)), 0);
}

TEST_F(Multicast, DatagramToOneQueuePairAtAGroupsAddressIsDropped) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10, {.ah = to_group}), 0);
  carry();

  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().unknown_qp, 1u);
  ASSERT_EQ(detach(b, b.qp, ipv4_group(1)), 0);
}

TEST_F(Multicast, AttachingTwiceIsAttachingOnce) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);
  for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(b.post_recv(i, 0, 200), 0);

  ASSERT_EQ(send_to_group(), 0);
  carry();

  EXPECT_EQ(b.poll().size(), 1u);
  EXPECT_EQ(detach(b, b.qp, ipv4_group(1)), 0);
  EXPECT_EQ(detach(b, b.qp, ipv4_group(1)), EINVAL);
}

TEST_F(Multicast, NeedsADatagramQueuePairAndAGroupsAddress) {
  EXPECT_EQ(attach(b, b.qp, b.gid), EINVAL);
  EXPECT_EQ(attach(b, b.qp, ibv_gid{}), EINVAL);
  b.hca->destroy_qp(b.qp).value();
  b.create_qp({});
  EXPECT_EQ(attach(b, b.qp, ipv4_group(1)), EINVAL);
  EXPECT_EQ(detach(b, b.qp, ipv4_group(1)), EINVAL);
}

TEST_F(Multicast, KeepsItsQueuePairBusy) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);

  EXPECT_EQ(b.hca->destroy_qp(b.qp).error().value(), EBUSY);

  EXPECT_EQ(detach(b, b.qp, ipv4_group(1)), 0);
}

TEST_F(Multicast, ARemovedDevicesQueuePairIsBusyNoMore) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);

  b.hca->remove();

  EXPECT_TRUE(b.hca->destroy_qp(b.qp));
  b.qp = nullptr;
}

TEST_F(Multicast, LimitsAreOutOfMemory) {
  HcaConfig config;
  config.max_mcast_grp = 1;
  config.max_mcast_qp_attach = 1;
  const auto hca = Hca::create(runtime, random, pool, config);
  ibv_context* context = hca->open_device(hca->device()).value();
  ibv_pd* pd = hca->alloc_pd(context).value();
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = hca->create_cq(context, 10, nullptr, nullptr, 0).value();
  init.qp_type = IBV_QPT_UD;
  ibv_qp* first = hca->create_qp(pd, &init).value();
  ibv_qp* second = hca->create_qp(pd, &init).value();
  ASSERT_TRUE(hca->attach_mcast(first, ipv4_group(1), 0).has_value());

  EXPECT_EQ(hca->attach_mcast(second, ipv4_group(1), 0).error().value(), ENOMEM);
  EXPECT_EQ(hca->attach_mcast(first, ipv4_group(2), 0).error().value(), ENOMEM);

  // The rest is left to the device.
}

TEST_F(Multicast, EndsWithTheDevice) {
  ASSERT_EQ(attach(b, b.qp, ipv4_group(1)), 0);
  b.hca->remove();

  EXPECT_EQ(attach(b, b.qp, ipv4_group(2)), EIO);
  EXPECT_EQ(detach(b, b.qp, ipv4_group(1)), EIO);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
