// The software HCA from end to end: two devices, all packets carried by hand.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;

TEST_F(Pair, ASendFillsTheReceiveAndCompletesOnBothSides) {
  connect();
  a.fill(0, 1000, 3);
  ASSERT_EQ(b.post_recv(7, 5000, 2000), 0);

  ASSERT_EQ(a.post_send(IBV_WR_SEND, 8, 0, 1000), 0);
  carry();

  const auto sent = a.poll();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent[0].opcode, IBV_WC_SEND);
  EXPECT_EQ(sent[0].wr_id, 8u);
  EXPECT_EQ(sent[0].qp_num, a.qp->qp_num);
  const auto received = b.poll();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(received[0].wr_id, 7u);
  EXPECT_EQ(received[0].byte_len, 1000u);
  EXPECT_EQ(received[0].src_qp, a.qp->qp_num);
  EXPECT_EQ(received[0].wc_flags, 0u);
  EXPECT_TRUE(b.filled(5000, 1000, 3));
  EXPECT_EQ(a.hca->next_deadline(), std::nullopt);
}

TEST_F(Pair, AManagementDatagramArrivesWithItsSender) {
  std::array<std::uint8_t, kMadBytes> mad{};
  mad[5] = 9;
  MadAddress to{.source = a.gid, .destination = b.gid, .traffic_class = 4};

  a.hca->send_mad(to, mad);
  carry();

  const auto received = b.hca->next_mad();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(std::memcmp(received->mad.data(), mad.data(), kMadBytes), 0);
  EXPECT_EQ(std::memcmp(&received->from.source, &a.gid, 16), 0);
  EXPECT_EQ(std::memcmp(&received->from.destination, &b.gid, 16), 0);
  EXPECT_EQ(received->from.qpn, wire::kGsiQpn);
  EXPECT_EQ(received->from.traffic_class, 4);
  EXPECT_FALSE(b.hca->next_mad().has_value());
}

TEST_F(Pair, AWriteChangesOnlyTheTargetsMemory) {
  connect();
  a.fill(0, 3000, 5);

  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 3000, &b, 100), 0);
  carry();

  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_TRUE(b.filled(100, 3000, 5));
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(Pair, AWriteWithImmediateConsumesAReceive) {
  connect();
  a.fill(0, 700, 5);
  ASSERT_EQ(b.post_recv(2, 0, 0), 0);

  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 700, &b, 100), 0);
  carry();

  const auto received = b.poll();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[0].imm_data, htobe32(0x12345678));
  EXPECT_EQ(received[0].wc_flags, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(received[0].byte_len, 700u);
  EXPECT_TRUE(b.filled(100, 700, 5));
}

TEST_F(Pair, AReadFetchesTheTargetsMemory) {
  connect();
  b.fill(40, 5000, 9);

  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 100, 5000, &b, 40), 0);
  carry();

  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(done[0].byte_len, 5000u);
  EXPECT_TRUE(a.filled(100, 5000, 9));
}

TEST_F(Pair, ManyMixedRequestsCompleteInOrder) {
  ConnectionOptions options;
  options.max_rd_atomic = options.max_dest_rd_atomic = 2;
  connect(options);
  b.fill(0, 100'000, 4);
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_EQ(b.post_recv(i, 150'000 + i * 1000, 1000), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 3 * i, i * 1500, 1500, &b, i * 1500), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND_WITH_IMM, 3 * i + 1, 0, 999), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 3 * i + 2, 0, 1, &b, 200'000), 0);
  }
  settle();

  const auto done = a.poll();
  ASSERT_EQ(done.size(), 60u);
  for (std::uint64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(done[i].status, IBV_WC_SUCCESS);
    EXPECT_EQ(done[i].wr_id, i);
  }
  EXPECT_TRUE(a.filled(0, 30'000, 4));
  EXPECT_EQ(b.poll().size(), 20u);
}

TEST_F(Pair, AQueuePairMayTalkToItself) {
  const ConnectionOptions options;
  a.create_qp(options);
  a.to_init(options);
  a.to_rtr(options, a);
  a.to_rts(options);
  a.fill(0, 600, 8);
  ASSERT_EQ(a.post_recv(1, 1000, 600), 0);

  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 600), 0);
  carry();

  EXPECT_EQ(a.poll().size(), 2u);
  EXPECT_TRUE(a.filled(1000, 600, 8));
}

}  // namespace
}  // namespace anyrdma::verbs::soft
