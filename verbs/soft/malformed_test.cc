// What a peer must not send: requests that break the order or the length of a message (IBTA vol 1,
// 9.7.4.1), and answers that make no sense.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::Pair;
using testing::Side;

constexpr std::uint32_t kMtu = 256;
constexpr unsigned kAccess =
    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

struct Piece {
  std::uint8_t opcode;  ///< of the reliable connection
  std::uint32_t bytes = 0;
  std::uint32_t announced = 0;  ///< by a RETH
};

struct BadMessage {
  const char* name;
  std::vector<Piece> pieces;  ///< the last one is wrong
  std::size_t messages = 0;   ///< that it is to a connection without acknowledgements
};

const BadMessage kBadMessages[] = {
    {"MiddleOfNothing", {{roce::kRcSendMiddle, kMtu}}},
    {"EndOfNothing", {{roce::kRcSendLast, 10}}},
    {"MiddleOfNoWrite", {{roce::kRcWriteMiddle, kMtu}}},
    {"EndOfNoWrite", {{roce::kRcWriteLastImm, 10}}},
    {"ShortFirst", {{roce::kRcSendFirst, kMtu - 1}}},
    {"LongFirst", {{roce::kRcSendFirst, kMtu + 1}}},
    {"EmptyFirst", {{roce::kRcSendFirst, 0}}},
    {"ShortMiddle", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendMiddle, kMtu - 1}}},
    {"LongMiddle", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendMiddle, kMtu + 1}}},
    {"EmptyLast", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendLast, 0}}},
    {"LongLast", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendLast, kMtu + 1}}},
    {"LongOnly", {{roce::kRcSendOnly, kMtu + 1}}},
    {"FirstAfterFirst", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendFirst, kMtu}}},
    {"OnlyAfterFirst", {{roce::kRcSendFirst, kMtu}, {roce::kRcSendOnly, 10}}, 1},
    {"WriteWithinSend", {{roce::kRcSendFirst, kMtu}, {roce::kRcWriteMiddle, kMtu}}},
    {"SendWithinWrite", {{roce::kRcWriteFirst, kMtu, 2 * kMtu}, {roce::kRcSendLast, 10}}},
    {"WriteLongerThanAnnounced", {{roce::kRcWriteOnly, 11, 10}}},
    {"WriteShorterThanAnnounced", {{roce::kRcWriteOnly, 9, 10}}},
    {"FirstOfAWriteOfOnePacket", {{roce::kRcWriteFirst, kMtu, kMtu}}},
    {"WriteThatEndsEarly", {{roce::kRcWriteFirst, kMtu, 3 * kMtu}, {roce::kRcWriteLast, kMtu}}},
    {"WriteThatGoesOn", {{roce::kRcWriteFirst, kMtu, 2 * kMtu}, {roce::kRcWriteMiddle, kMtu}}},
    {"WriteOfMoreThanTwoGigabytes", {{roce::kRcWriteFirst, kMtu, 0x8000'0001}}},
    {"ReadWithinSend", {{roce::kRcSendFirst, kMtu}, {roce::kRcReadRequest, 0, 8}}},
    {"ReadOfMoreThanTwoGigabytes", {{roce::kRcReadRequest, 0, 0x8000'0001}}},
    {"AtomicWithinSend", {{roce::kRcSendFirst, kMtu}, {roce::kRcFetchAdd}}},
};

class Malformed : public Pair {
 protected:
  /// A packet of a's for b, or of b's for a.
  void inject(Side& to, const Side& from, roce::Headers headers, std::uint32_t bytes) {
    PacketPtr packet = pool.take();
    packet->source = from.gid;
    packet->destination = to.gid;
    headers.bth.destination = wire::Qpn{to.qp->qp_num};
    headers.bth.pad = static_cast<std::uint8_t>((0 - bytes) & 3);
    const std::size_t header = roce::kHeaderBytes[headers.bth.opcode];
    packet->size = static_cast<std::uint16_t>(header + bytes + headers.bth.pad + roce::kIcrcBytes);
    std::fill_n(packet->storage.begin(), packet->size, std::uint8_t{0x5a});
    roce::encode(headers, std::span(packet->storage).first(header));
    to.hca->on_packet(runtime.time, std::move(packet));
  }

  void inject_request(const Piece& piece, std::uint8_t service) {
    roce::Headers headers;
    headers.bth.opcode = piece.opcode | service;
    headers.bth.psn = wire::Psn{a.first_psn} + next_++;
    headers.reth = {b.piece(0, 0).addr, b.mr->rkey, piece.announced};
    headers.atomic = {b.piece(0, 0).addr, b.mr->rkey, 1, 0};
    inject(b, a, headers, piece.bytes);
  }

  std::uint32_t next_ = 0;
};

class MalformedMessage : public Malformed, public ::testing::WithParamInterface<BadMessage> {};

TEST_P(MalformedMessage, IsAnInvalidRequestOfAReliableConnection) {
  connect({.access = kAccess});
  ASSERT_EQ(b.post_recv(1, 0, 4096), 0);
  for (const Piece& piece : GetParam().pieces) inject_request(piece, 0);

  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  std::vector<roce::Headers> answers;
  while (const PacketPtr packet = b.hca->next_packet())
    answers.push_back(roce::decode(packet->payload()).headers);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].aeth.kind, roce::AckKind::kNak);
  EXPECT_EQ(answers[0].bth.psn, wire::Psn{a.first_psn} + (next_ - 1));
  // A receive that was in use tells of it, else the queue pair's event does.
  const std::vector<ibv_wc> received = b.poll();
  ASSERT_EQ(received.size(), 1u);
  if (received[0].status == IBV_WC_WR_FLUSH_ERR) {
    EXPECT_FALSE(b.events().empty());
  } else {
    EXPECT_EQ(received[0].status, IBV_WC_LOC_QP_OP_ERR);
  }
}

TEST_P(MalformedMessage, IsDroppedByAConnectionWithoutAcknowledgements) {
  if (roce::kOpcodes[GetParam().pieces.back().opcode | 0x20].service != roce::Service::kUc)
    GTEST_SKIP() << "the service has no such packet";
  connect({.type = IBV_QPT_UC});
  ASSERT_EQ(b.post_recv(1, 0, 4096), 0);
  for (const Piece& piece : GetParam().pieces) inject_request(piece, 0x20);

  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
  EXPECT_EQ(b.poll().size(), GetParam().messages);
  EXPECT_EQ(b.hca->next_packet(), nullptr);
  // What is right is taken afterwards.
  if (GetParam().messages != 0) return;
  inject_request({roce::kRcSendOnly, 5}, 0x20);
  const std::vector<ibv_wc> received = b.poll();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(received[0].byte_len, 5u);
}

INSTANTIATE_TEST_SUITE_P(Each, MalformedMessage, ::testing::ValuesIn(kBadMessages),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_F(Malformed, AnswersThatNobodyHasDefinedAreIgnored) {
  connect();
  ASSERT_EQ(b.post_recv(1, 0, 64), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  PacketPtr request = a.hca->next_packet();
  roce::Headers headers;
  headers.bth.opcode = roce::kRcAcknowledge;
  headers.bth.psn = wire::Psn{a.first_psn};
  for (const roce::Aeth aeth :
       {roce::Aeth{roce::AckKind::kReserved, 0, 0}, roce::Aeth{roce::AckKind::kNak, 4, 0},
        roce::Aeth{roce::AckKind::kNak, 31, 0}}) {
    headers.aeth = aeth;
    inject(a, b, headers, 0);
    EXPECT_TRUE(a.poll().empty());
    EXPECT_EQ(a.qp->state, IBV_QPS_RTS);
  }
  EXPECT_EQ(a.hca->counters().malformed, 3u);
  b.hca->on_packet(runtime.time, std::move(request));
  carry();
  EXPECT_EQ(a.poll().size(), 1u);
}

// Soft-RoCE asks for the packet again that it has had no receive for, with each one that follows.
TEST_F(Malformed, ASequenceErrorWhileTheReceiverIsNotReadyCostsNoRetry) {
  connect({.retry_cnt = 1});
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  carry();  // the receiver is not ready
  roce::Headers headers;
  headers.bth.opcode = roce::kRcAcknowledge;
  headers.bth.psn = wire::Psn{a.first_psn};
  headers.aeth = {roce::AckKind::kNak, static_cast<std::uint8_t>(roce::NakCode::kPsnSequence), 0};
  for (int i = 0; i < 3; ++i) inject(a, b, headers, 0);
  EXPECT_EQ(a.qp->state, IBV_QPS_RTS);
  EXPECT_EQ(a.hca->next_packet(), nullptr);  // it waits

  ASSERT_EQ(b.post_recv(1, 0, 64), 0);
  ASSERT_EQ(b.post_recv(2, 0, 64), 0);
  settle();
  EXPECT_EQ(a.poll().size(), 2u);
}

TEST_F(Malformed, AnAcknowledgementOfWhatWasNotSentIsIgnored) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  const PacketPtr request = a.hca->next_packet();
  roce::Headers headers;
  headers.bth.opcode = roce::kRcAcknowledge;
  headers.bth.psn = wire::Psn{a.first_psn} + 1;
  inject(a, b, headers, 0);
  EXPECT_TRUE(a.poll().empty());
}

struct BadResponse {
  std::uint8_t opcode;
  std::uint32_t bytes;
};

TEST_F(Malformed, AResponseOfTheWrongLengthOrPlaceIsABadResponse) {
  // Two packets are due: a first and a last.
  for (const BadResponse& bad :
       {BadResponse{roce::kRcReadResponseOnly, kMtu}, BadResponse{roce::kRcReadResponseLast, kMtu},
        BadResponse{roce::kRcReadResponseFirst, kMtu - 1},
        BadResponse{roce::kRcReadResponseFirst, kMtu + 1}}) {
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    if (b.qp != nullptr) b.hca->destroy_qp(b.qp).value();
    a.qp = b.qp = nullptr;
    connect();
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 2, 0, kMtu + 9, &b, 0), 0);
    const PacketPtr request = a.hca->next_packet();
    roce::Headers headers;
    headers.bth.opcode = bad.opcode;
    headers.bth.psn = wire::Psn{a.first_psn};
    inject(a, b, headers, bad.bytes);
    const std::vector<ibv_wc> done = a.poll();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].status, IBV_WC_BAD_RESP_ERR);
    EXPECT_EQ(a.qp->state, IBV_QPS_ERR);
  }
}

TEST_F(Malformed, APacketOfAnotherPartitionIsDropped) {
  connect();
  ASSERT_EQ(b.post_recv(1, 0, 64), 0);
  roce::Headers headers;
  headers.bth.opcode = roce::kRcSendOnly;
  headers.bth.psn = wire::Psn{a.first_psn};
  headers.bth.partition_key = 0x8001;
  inject(b, a, headers, 4);
  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().malformed, 1u);
  headers.bth.partition_key = 0x7fff;  // a limited member's
  inject(b, a, headers, 4);
  EXPECT_EQ(b.poll().size(), 1u);
}

// --- where messages are cut ---------------------------------------------------------------------

TEST_F(Malformed, NothingIsMalformedAboutAMessageOfAnyLengthAtAnyMtu) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    if (b.qp != nullptr) b.hca->destroy_qp(b.qp).value();
    a.qp = b.qp = nullptr;
    connect({.mtu = mtu});
    const std::uint32_t bytes = 128u << mtu;
    for (const std::uint32_t length :
         {0u, 1u, bytes - 1, bytes, bytes + 1, 2 * bytes - 1, 2 * bytes, 2 * bytes + 1}) {
      SCOPED_TRACE(std::to_string(bytes) + ": " + std::to_string(length));
      for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                         IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ}) {
        const bool reads = opcode == IBV_WR_RDMA_READ;
        const bool receives = !reads && opcode != IBV_WR_RDMA_WRITE;
        (reads ? b : a).fill(0, length, 7);
        carried = 0;
        if (receives) {
          ASSERT_EQ(b.post_recv(1, 0, 3 * bytes), 0);
        }
        ASSERT_EQ(a.post_send(opcode, 2, 0, length, &b, 0), 0);
        carry();
        const std::vector<ibv_wc> done = a.poll();
        ASSERT_EQ(done.size(), 1u);
        EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
        EXPECT_TRUE((reads ? a : b).filled(0, length, 7));
        EXPECT_EQ(carried, std::max(1u, (length + bytes - 1) / bytes) + 1);
        const std::vector<ibv_wc> received = b.poll();
        ASSERT_EQ(received.size(), receives ? 1u : 0u);
        for (const ibv_wc& each : received) EXPECT_EQ(each.byte_len, length);
      }
    }
  }
}

}  // namespace
}  // namespace anyrdma::verbs::soft
