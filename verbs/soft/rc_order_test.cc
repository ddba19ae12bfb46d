// Details of the protocol that a healthy end result does not show: what is sent, and when.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;
using namespace std::chrono_literals;

class RcOrder : public Pair {
 protected:
  // Takes the next packet of a side out of its device.
  static PacketPtr pull(Side& side) { return side.hca->next_packet(); }
  void push(Side& side, PacketPtr packet) { side.hca->on_packet(runtime.time, std::move(packet)); }
  static std::uint32_t psn_of(const Packet& packet) {
    return roce::open(packet.payload()).bth.psn.value();
  }
  // The opcodes of everything a side has to send, which is lost.
  static std::vector<int> opcodes(Side& side) {
    std::vector<int> all;
    while (const PacketPtr packet = pull(side)) all.push_back(packet->storage[0]);
    return all;
  }
};

TEST_F(RcOrder, AHealthyWireSeesNoRepetition) {
  connect();
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(b.post_recv(i, 0, 1000), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, i, 0, 1000), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, i, 0, 1000, &b, 0), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 100'000, &b, 0), 0);
  }
  carry();
  EXPECT_EQ(a.poll().size(), 30u);
  EXPECT_EQ(a.hca->counters().retransmitted, 0u);
  EXPECT_EQ(b.hca->counters().duplicates, 0u);
  EXPECT_EQ(a.hca->counters().packets_out, b.hca->counters().packets_in);
  EXPECT_EQ(b.hca->counters().packets_out, a.hca->counters().packets_in);
}

TEST_F(RcOrder, OneAcknowledgementAnswersManyRequests) {
  connect();
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 10, &b, 0), 0);
  while (PacketPtr packet = pull(a)) push(b, std::move(packet));
  EXPECT_EQ(opcodes(b), std::vector<int>{roce::kRcAcknowledge});
}

TEST_F(RcOrder, AReadResponseAcknowledgesWhatWasBefore) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 2, 0, 10, &b, 0), 0);
  while (PacketPtr packet = pull(a)) push(b, std::move(packet));
  PacketPtr acknowledgement = pull(b);  // lost
  ASSERT_EQ(acknowledgement->storage[0], roce::kRcAcknowledge);
  PacketPtr response = pull(b);
  ASSERT_EQ(response->storage[0], roce::kRcReadResponseOnly);

  push(a, std::move(response));

  EXPECT_EQ(a.poll().size(), 2u);
}

TEST_F(RcOrder, AFencedRequestWaitsForTheReadsBeforeIt) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 10, &b, 0, IBV_SEND_FENCE), 0);
  PacketPtr read = pull(a);
  EXPECT_EQ(pull(a), nullptr);
  push(b, std::move(read));
  push(a, pull(b));
  EXPECT_EQ(opcodes(a), std::vector<int>{roce::kRcWriteOnly});
}

TEST_F(RcOrder, NoMoreReadsAreUnderwayThanAgreed) {
  ConnectionOptions options;
  options.max_rd_atomic = 2;
  connect(options);
  for (std::uint64_t i = 0; i < 5; ++i)
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, i, 0, 10, &b, 0), 0);
  EXPECT_EQ(opcodes(a).size(), 2u);
}

TEST_F(RcOrder, TheWindowLimitsWhatIsUnderway) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 256 * 500, &b, 0), 0);
  EXPECT_EQ(opcodes(a).size(), 128u);
}

TEST_F(RcOrder, APartOfAMessageAcknowledgedDoesNotCompleteIt) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 256 * 100, &b, 0), 0);
  for (int i = 0; i < 80; ++i) push(b, pull(a));
  EXPECT_EQ(opcodes(a).size(), 20u);  // lost
  PacketPtr acknowledgement = pull(b);
  ASSERT_TRUE(acknowledgement);
  push(a, std::move(acknowledgement));
  EXPECT_TRUE(a.poll().empty());

  ASSERT_TRUE(next_timer());

  PacketPtr again = pull(a);
  ASSERT_TRUE(again);
  EXPECT_EQ(psn_of(*again), (a.first_psn + 64) & 0xffffff);
  push(b, std::move(again));
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
}

TEST_F(RcOrder, ALateAcknowledgementStopsARepetition) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1000, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 100, &b, 0), 0);
  for (int i = 0; i < 4; ++i) push(b, pull(a));
  EXPECT_EQ(opcodes(a).size(), 1u);  // the second request is lost
  PacketPtr late = pull(b);
  ASSERT_TRUE(next_timer());  // a starts over ...
  push(a, std::move(late));   // ... but need not, for the first request
  EXPECT_EQ(a.poll().size(), 1u);
  PacketPtr again = pull(a);
  ASSERT_TRUE(again);
  EXPECT_EQ(psn_of(*again), (a.first_psn + 4) & 0xffffff);
  push(b, std::move(again));
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_EQ(b.hca->counters().duplicates, 0u);
}

TEST_F(RcOrder, OneNakPerGap) {
  connect();
  for (std::uint64_t i = 0; i < 5; ++i)
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 10, &b, 0), 0);
  pull(a);  // lost
  while (PacketPtr packet = pull(a)) push(b, std::move(packet));
  PacketPtr nak = pull(b);
  ASSERT_TRUE(nak);
  const auto aeth = roce::decode(nak->payload()).headers.aeth;
  EXPECT_EQ(aeth.kind, roce::AckKind::kNak);
  EXPECT_EQ(aeth.value, static_cast<std::uint8_t>(roce::NakCode::kPsnSequence));
  EXPECT_EQ(psn_of(*nak), a.first_psn & 0xffffff);
  EXPECT_EQ(pull(b), nullptr);
  push(a, std::move(nak));
  EXPECT_EQ(opcodes(a).size(), 5u);  // go back to the gap
}

TEST_F(RcOrder, EveryGapIsReported) {
  connect();
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2 * i, 0, 10, &b, 0), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2 * i + 1, 0, 10, &b, 0), 0);
    pull(a);  // lost
    push(b, pull(a));
    PacketPtr nak = pull(b);
    ASSERT_TRUE(nak) << "gap " << i;
    EXPECT_EQ(roce::decode(nak->payload()).headers.aeth.kind, roce::AckKind::kNak);
    push(a, std::move(nak));
    settle();
  }
  EXPECT_EQ(a.poll().size(), 4u);
}

TEST_F(RcOrder, ARepeatedReadAsksOnlyForWhatIsMissing) {
  connect();
  b.fill(0, 1000, 2);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 5000, 1000, &b, 0), 0);
  push(b, pull(a));
  push(a, pull(b));
  push(a, pull(b));
  EXPECT_EQ(opcodes(b).size(), 2u);  // lost

  ASSERT_TRUE(next_timer());

  PacketPtr again = pull(a);
  const auto reth = roce::decode(again->payload()).headers.reth;
  EXPECT_EQ(reth.address, b.piece(512, 0).addr);
  EXPECT_EQ(reth.length, 488u);
  push(b, std::move(again));
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_TRUE(a.filled(5000, 1000, 2));
}

TEST_F(RcOrder, ADuplicateReadOfMemoryThatIsGoneIsDroppedInSilence) {
  connect();
  const auto start = reinterpret_cast<std::uintptr_t>(b.memory.data());
  ibv_mr* mr = b.hca->reg_mr(b.pd, b.memory.data(), 100, start, IBV_ACCESS_REMOTE_READ).value();
  std::swap(b.mr, mr);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  std::swap(b.mr, mr);
  PacketPtr copy;
  wire = [&](const Packet& packet) {
    if (packet.storage[0] == roce::kRcReadRequest && !copy) {
      copy = pool.take();
      std::copy(packet.payload().begin(), packet.payload().end(), copy->storage.begin());
      copy->size = packet.size;
      copy->source = packet.source;
      copy->destination = packet.destination;
    }
    return 1;
  };
  carry();
  EXPECT_EQ(a.poll().size(), 1u);
  b.hca->dereg_mr(mr).value();

  push(b, std::move(copy));
  carry();

  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
  EXPECT_EQ(b.hca->counters().duplicates, 1u);
  EXPECT_TRUE(b.events().empty());
}

TEST_F(RcOrder, ADuplicateIsAcknowledgedWithoutAcknowledgingTheReadBehindIt) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 2, 100, 10, &b), 0);
  PacketPtr write = pull(a);
  const std::uint32_t psn = psn_of(*write);
  PacketPtr again = pool.copy_of(*write);
  push(b, std::move(write));
  push(b, pull(a));
  EXPECT_EQ(opcodes(b).size(), 2u);  // both answers are lost

  push(b, std::move(again));

  PacketPtr acknowledgement = pull(b);
  ASSERT_TRUE(acknowledgement);
  EXPECT_EQ(acknowledgement->storage[0], roce::kRcAcknowledge);
  EXPECT_EQ(psn_of(*acknowledgement), psn);
  EXPECT_EQ(pull(b), nullptr);
}

TEST_F(RcOrder, ADuplicateTakesNothingBackThatIsAcknowledgedWithIt) {
  connect();
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 10, &b), 0);
  PacketPtr first = pull(a);
  PacketPtr again = pool.copy_of(*first);
  PacketPtr second = pull(a);
  const std::uint32_t last = psn_of(*second);
  push(b, std::move(first));
  push(b, std::move(second));
  push(b, std::move(again));
  PacketPtr acknowledgement = pull(b);
  ASSERT_TRUE(acknowledgement);
  EXPECT_EQ(psn_of(*acknowledgement), last);
}

TEST_F(RcOrder, APacketFromSomebodyElseIsIgnored) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  PacketPtr packet = pull(a);
  packet->source = testing::ipv4_gid(77);
  push(b, std::move(packet));
  EXPECT_EQ(b.hca->counters().unknown_qp, 1u);
  EXPECT_EQ(pull(b), nullptr);
}

TEST_F(RcOrder, ADamagedPacketIsIgnored) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  PacketPtr packet = pull(a);
  packet->icrc_valid = true;  // claims to be sealed, with an ICRC of zero
  push(b, std::move(packet));
  EXPECT_EQ(b.hca->counters().bad_icrc, 1u);
  EXPECT_EQ(pull(b), nullptr);
}

TEST_F(RcOrder, QueuePairsTakeTurns) {
  connect();
  ibv_qp* first_a = a.qp;
  ibv_qp* const first_b = b.qp;
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1000, &b, 0), 0);
  std::swap(a.qp, first_a);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1000, &b, 0), 0);
  std::vector<std::uint32_t> order;
  while (const PacketPtr packet = pull(a))
    order.push_back(value(roce::open(packet->payload()).bth.destination));
  ASSERT_EQ(order.size(), 8u);
  for (std::size_t i = 2; i < order.size(); ++i) EXPECT_EQ(order[i], order[i - 2]);
  EXPECT_NE(order[0], order[1]);
  a.hca->destroy_qp(first_a).value();
  b.hca->destroy_qp(first_b).value();
}

}  // namespace
}  // namespace anyrdma::verbs::soft
