// Payloads that stay in their sender's memory until they arrive: whatever happens meanwhile, what
// arrives is what was there when the packet left.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

constexpr std::uint32_t kLength = 3 * 4096;
constexpr std::size_t kTarget = 100'000;
constexpr std::size_t kReadTo = 50'000;

class LentPayload : public testing::Pair {
 protected:
  void SetUp() override {
    a.hca->lend_payloads();
    b.hca->lend_payloads();
    connect({.mtu = IBV_MTU_4096});
    a.fill(0, kLength, 1);
  }

  /// The packets of one WRITE from a to b, under way.
  std::vector<PacketPtr> send_write() {
    EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kLength, &b, kTarget), 0);
    return take();
  }

  std::vector<PacketPtr> take() { return take(a); }
  static std::vector<PacketPtr> take(testing::Side& from) {
    std::vector<PacketPtr> packets;
    while (PacketPtr packet = from.hca->next_packet()) packets.push_back(std::move(packet));
    return packets;
  }

  /// What answers a READ by a of b's memory, under way.
  std::vector<PacketPtr> send_read() {
    b.fill(kTarget, kLength, 5);
    EXPECT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, kReadTo, kLength, &b, kTarget), 0);
    deliver(take());
    return take(b);
  }
  void expect_read(std::vector<PacketPtr> answers) {
    for (PacketPtr& packet : answers) a.hca->on_packet(runtime.time, std::move(packet));
    EXPECT_TRUE(a.filled(kReadTo, kLength, 5));
    EXPECT_EQ(a.poll().size(), 1u);
  }

  void deliver(std::vector<PacketPtr> packets) {
    for (PacketPtr& packet : packets) b.hca->on_packet(runtime.time, std::move(packet));
  }

  static bool any_lent(const std::vector<PacketPtr>& packets) {
    for (const PacketPtr& packet : packets) {
      if (packet->lent != nullptr) return true;
    }
    return false;
  }
};

TEST_F(LentPayload, ArrivesWithoutACopyInThePacket) {
  std::vector<PacketPtr> packets = send_write();
  ASSERT_EQ(packets.size(), 3u);
  for (const PacketPtr& packet : packets) EXPECT_NE(packet->lent, nullptr);
  deliver(std::move(packets));
  carry();
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
  EXPECT_EQ(a.poll().size(), 1u);
}

TEST_F(LentPayload, ArrivesBySendAndInAScatterList) {
  EXPECT_EQ(b.post_recv(2, kTarget, kLength), 0);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, kLength), 0);
  carry();
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
}

TEST_F(LentPayload, IsCopiedBeforeItsRegionGoes) {
  std::vector<PacketPtr> packets = send_write();
  ASSERT_TRUE(a.hca->dereg_mr(std::exchange(a.mr, nullptr)));
  EXPECT_FALSE(any_lent(packets));
  a.fill(0, kLength, 9);
  deliver(std::move(packets));
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
  a.mr = a.hca->reg_mr(a.pd, a.memory.data(), 1, 0, 0).value();  // for its end
}

TEST_F(LentPayload, IsCopiedWhenItsQueuePairFails) {
  std::vector<PacketPtr> packets = send_write();
  ASSERT_EQ(a.modify(IBV_QPS_ERR, IBV_QP_STATE, {}), 0);
  EXPECT_FALSE(any_lent(packets));
  a.fill(0, kLength, 9);
  deliver(std::move(packets));
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
}

TEST_F(LentPayload, IsCopiedWhenItsQueuePairIsReset) {
  std::vector<PacketPtr> packets = send_write();
  ASSERT_EQ(a.modify(IBV_QPS_RESET, IBV_QP_STATE, {}), 0);
  EXPECT_FALSE(any_lent(packets));
}

TEST_F(LentPayload, IsCopiedBeforeItIsSentAgain) {
  const std::vector<PacketPtr> lost = send_write();
  ASSERT_TRUE(next_timer());
  EXPECT_FALSE(any_lent(lost));
  carry();
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
}

// A peer that acknowledges what has not arrived: a ghost of an older connection, say.
TEST_F(LentPayload, IsCopiedWhenItsRequestCompletesBeforeItArrives) {
  std::vector<PacketPtr> packets = send_write();
  std::vector<PacketPtr> twins;
  for (const PacketPtr& packet : packets) twins.push_back(pool.copy_of(*packet));
  EXPECT_FALSE(any_lent(twins));
  deliver(std::move(twins));
  while (PacketPtr answer = b.hca->next_packet()) {
    a.hca->on_packet(runtime.time, std::move(answer));
  }
  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_FALSE(any_lent(packets));
}

TEST_F(LentPayload, OfAReadArrivesWithoutACopyInThePacket) {
  std::vector<PacketPtr> answers = send_read();
  ASSERT_EQ(answers.size(), 3u);
  for (const PacketPtr& packet : answers) EXPECT_NE(packet->lent, nullptr);
  expect_read(std::move(answers));
}

TEST_F(LentPayload, OfAReadIsWhatWasThereBeforeTheRequestsBehindIt) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_ATOMIC_WRITE}) {
    std::vector<PacketPtr> answers = send_read();
    EXPECT_EQ(b.post_recv(2, kTarget, kLength), 0);
    const std::uint32_t length = opcode == IBV_WR_ATOMIC_WRITE ? 8 : kLength;
    EXPECT_EQ(a.post_send(opcode, 3, 0, length, &b, kTarget), 0);
    deliver(take());
    EXPECT_FALSE(any_lent(answers)) << opcode;
    expect_read(std::move(answers));
    carry();
    (void)a.poll();
  }
}

TEST_F(LentPayload, OfAReadIsCopiedBeforeItsRegionGoes) {
  std::vector<PacketPtr> answers = send_read();
  ASSERT_TRUE(b.hca->dereg_mr(std::exchange(b.mr, nullptr)));
  b.fill(kTarget, kLength, 9);
  expect_read(std::move(answers));
  b.mr = b.hca->reg_mr(b.pd, b.memory.data(), 1, 0, 0).value();  // for its end
}

TEST_F(LentPayload, OfAReadIsCopiedWhenItsQueuePairIsReset) {
  const std::vector<PacketPtr> answers = send_read();
  ASSERT_EQ(b.modify(IBV_QPS_RESET, IBV_QP_STATE, {}), 0);
  EXPECT_FALSE(any_lent(answers));
}

TEST_F(LentPayload, IsNoneWhereTheGatherListHasSeams) {
  ibv_sge pieces[] = {a.piece(0, 2000), a.piece(2000, kLength - 2000)};
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.sg_list = pieces;
  request.num_sge = 2;
  request.wr.rdma.remote_addr = b.piece(kTarget, 0).addr;
  request.wr.rdma.rkey = b.mr->rkey;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  std::vector<PacketPtr> packets = take();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(packets[0]->lent, nullptr);
  EXPECT_NE(packets[1]->lent, nullptr);
  deliver(std::move(packets));
  EXPECT_TRUE(b.filled(kTarget, kLength, 1));
}

}  // namespace
}  // namespace anyrdma::verbs::soft
