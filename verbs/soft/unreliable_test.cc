// The unreliable connection: messages that arrive whole or not at all, and nobody who answers.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;

constexpr std::uint32_t kLong = 5 * 256 + 17;  // six packets

class Unreliable : public Pair {
 protected:
  void connect_unreliably(ConnectionOptions options = {}) {
    options.type = IBV_QPT_UC;
    connect(options);
  }

  /// Loses packets by their number, from 0.
  void lose(const std::set<unsigned>& lost) {
    wire = [this, lost](const Packet&) { return lost.contains(sent_++) ? 0 : 1; };
  }

  void expect_only(Side& side, std::uint64_t id, ibv_wc_status status = IBV_WC_SUCCESS) {
    const std::vector<ibv_wc> all = side.poll();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].wr_id, id);
    EXPECT_EQ(all[0].status, status);
  }

  unsigned sent_ = 0;
};

TEST_F(Unreliable, AMessageOfAnyLengthArrivesWithoutAnAnswer) {
  connect_unreliably();
  for (const std::uint32_t length : {0u, 1u, 255u, 256u, 257u, 512u, kLong, 65536u}) {
    SCOPED_TRACE(length);
    const auto seed = static_cast<std::uint8_t>(length + 3);
    a.fill(0, length, seed);
    ASSERT_EQ(b.post_recv(length, 0, 65536), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, length), 0);
    carry();
    expect_only(a, 1);
    const std::vector<ibv_wc> received = b.poll();
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
    EXPECT_EQ(received[0].byte_len, length);
    EXPECT_EQ(received[0].src_qp, a.qp->qp_num);
    EXPECT_TRUE(b.filled(0, length, seed));
  }
  EXPECT_EQ(b.hca->counters().packets_out, 0u);
}

TEST_F(Unreliable, PacketsBearTheServiceInTheirOpcodeAndAskForNothing) {
  connect_unreliably();
  wire = [](const Packet& packet) {
    EXPECT_EQ(row_of(packet).service, roce::Service::kUc);
    EXPECT_FALSE(roce::open(packet.payload()).bth.ack_request);
    return 1;
  };
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kLong, &b, 0), 0);
  carry();
  EXPECT_EQ(carried, 6u);
}

TEST_F(Unreliable, ASendCompletesWhenItsLastPacketIsSent) {
  connect_unreliably();
  wire = [](const Packet&) { return 0; };
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 7, 0, kLong), 0);
  carry();
  expect_only(a, 7);
  EXPECT_FALSE(a.hca->next_deadline().has_value());
}

TEST_F(Unreliable, WritesArriveAndTakeNoReceive) {
  connect_unreliably();
  a.fill(0, kLong, 9);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kLong, &b, 100), 0);
  carry();
  EXPECT_TRUE(b.filled(100, kLong, 9));
  expect_only(a, 1);
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(Unreliable, ImmediateDataComesWithSendsAndWrites) {
  connect_unreliably();
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    for (const std::uint32_t length : {0u, 40u, kLong}) {
      ASSERT_EQ(b.post_recv(1, 0, kLong), 0);
      ASSERT_EQ(a.post_send(opcode, 2, 0, length, &b, 0), 0);
      carry();
      expect_only(a, 2);
      const std::vector<ibv_wc> received = b.poll();
      ASSERT_EQ(received.size(), 1u);
      EXPECT_EQ(received[0].wc_flags, unsigned{IBV_WC_WITH_IMM});
      EXPECT_EQ(received[0].imm_data, htobe32(0x12345678));
      EXPECT_EQ(received[0].byte_len, length);
      const bool is_send = opcode == IBV_WR_SEND_WITH_IMM;
      EXPECT_EQ(received[0].opcode, is_send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM);
    }
  }
}

TEST_F(Unreliable, AMessageWithAMissingPacketIsDroppedAndItsReceiveServesTheNext) {
  connect_unreliably();
  for (unsigned missing = 0; missing < 6; ++missing) {
    SCOPED_TRACE(missing);
    sent_ = 0;
    lose({missing});
    a.fill(0, kLong, 1);
    ASSERT_EQ(b.post_recv(1, 0, kLong), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, kLong), 0);
    carry();
    EXPECT_TRUE(b.poll().empty());
    a.fill(0, kLong, 2);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, kLong), 0);
    carry();
    expect_only(b, 1);
    EXPECT_TRUE(b.filled(0, kLong, 2));
    EXPECT_EQ(a.poll().size(), 2u);
  }
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Unreliable, TwoHalvesOfDifferentMessagesDoNotMakeOne) {
  connect_unreliably();
  lose({3, 4, 5, 6, 7, 8});  // the end of the first and the beginning of the second
  ASSERT_EQ(b.post_recv(1, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, kLong), 0);
  carry();
  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().broken_messages, 3u);  // the packets of the second's end
}

TEST_F(Unreliable, APacketOutOfOrderEndsTheMessage) {
  connect_unreliably();
  wire = [this](const Packet&) { return sent_++ == 2 ? -1 : 1; };
  ASSERT_EQ(b.post_recv(1, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, kLong), 0);
  carry();
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(Unreliable, ARepeatedOnlyPacketIsAnotherMessage) {
  // Nothing tells a copy from a message whose predecessors were lost (IBTA vol 1, 9.8.2.2.3).
  connect_unreliably();
  wire = [](const Packet&) { return 2; };
  ASSERT_EQ(b.post_recv(1, 0, 64), 0);
  ASSERT_EQ(b.post_recv(2, 0, 64), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, 10), 0);
  carry();
  EXPECT_EQ(b.poll().size(), 2u);
}

TEST_F(Unreliable, WithoutAReceiveTheMessageIsLostInSilence) {
  connect_unreliably();
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 2, 0, 10, &b, 0), 0);
  carry();
  EXPECT_EQ(a.poll().size(), 2u);
  EXPECT_EQ(b.hca->counters().no_receive, 2u);
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
  ASSERT_EQ(b.post_recv(3, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 4, 0, kLong), 0);
  carry();
  expect_only(b, 3);
}

TEST_F(Unreliable, AMessageLongerThanItsReceiveIsDropped) {
  connect_unreliably();
  ASSERT_EQ(b.post_recv(1, 0, kLong - 1), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, kLong), 0);
  carry();
  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, kLong - 1), 0);
  carry();
  expect_only(b, 1);
}

TEST_F(Unreliable, AWriteThatMayNotBeIsDroppedAndTheConnectionLives) {
  connect_unreliably();
  b.fill(0, 64, 5);
  ibv_sge piece = a.piece(0, 64);
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = b.piece(0, 0).addr;
  request.wr.rdma.rkey = b.mr->rkey + 1;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  carry();
  expect_only(a, 0);
  EXPECT_TRUE(b.filled(0, 64, 5));
  EXPECT_TRUE(b.events().empty() || b.events() == std::vector{IBV_EVENT_COMM_EST});
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Unreliable, WithoutTheRightToWriteAWriteIsDropped) {
  connect_unreliably({.access = 0});
  b.fill(0, 64, 5);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 64, &b, 0), 0);
  carry();
  EXPECT_TRUE(b.filled(0, 64, 5));
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Unreliable, AReceiveIntoMemoryThatIsNotOursFailsTheQueuePair) {
  connect_unreliably();
  ibv_sge nowhere{0, 64, 0};
  ibv_recv_wr request{};
  request.wr_id = 1;
  request.sg_list = &nowhere;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(b.qp, &request, &bad), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  carry();
  expect_only(b, 1, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  expect_only(a, 2);
}

TEST_F(Unreliable, ASendFromMemoryThatIsNotOursStopsTheSendQueueOnly) {
  connect_unreliably();
  ibv_sge nowhere{0, 64, 0};
  ibv_send_wr request{};
  request.wr_id = 1;
  request.sg_list = &nowhere;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  carry();
  std::vector<ibv_wc> done = a.poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(a.qp->state, IBV_QPS_SQE);
  // What is posted now is flushed, what arrives is taken.
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, 10), 0);
  expect_only(a, 3, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(a.post_recv(4, 0, 64), 0);
  ASSERT_EQ(b.post_send(IBV_WR_SEND, 5, 0, 10), 0);
  carry();
  expect_only(a, 4);
  // And the way back.
  ASSERT_EQ(b.post_recv(6, 0, 64), 0);
  expect_only(b, 5);
  ASSERT_EQ(a.modify(IBV_QPS_RTS, 0, {}), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 7, 0, 10), 0);
  carry();
  expect_only(b, 6);
}

TEST_F(Unreliable, OperationsThatNeedAnAnswerAreRefused) {
  connect_unreliably();
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
                                     IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV, IBV_WR_TSO})
    EXPECT_EQ(a.post_send(opcode, 1, 0, 8, &b, 0), EINVAL) << opcode;
}

TEST_F(Unreliable, DrainingEndsWhenTheMessageThatWasBegunIsSent) {
  connect_unreliably();
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, kLong), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, kLong), 0);
  b.hca->on_packet(runtime.time, a.hca->next_packet());
  ibv_qp_attr attr{};
  attr.en_sqd_async_notify = 1;
  ASSERT_EQ(a.modify(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, attr), 0);
  carry();
  EXPECT_EQ(carried, 5u);
  EXPECT_EQ(a.events(), std::vector{IBV_EVENT_SQ_DRAINED});
  expect_only(a, 1);
  ASSERT_EQ(a.modify(IBV_QPS_RTS, 0, {}), 0);
  carry();
  EXPECT_EQ(carried, 11u);
}

TEST_F(Unreliable, PacketsOfAnotherServiceAreDropped) {
  connect_unreliably();
  wire = [](const Packet& packet) {
    const_cast<Packet&>(packet).storage[0] &= 0x1f;  // the reliable connection's
    return 1;
  };
  ASSERT_EQ(b.post_recv(1, 0, 64), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  carry();
  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().unknown_qp, 1u);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
