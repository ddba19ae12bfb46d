// The unreliable datagram service: what arrives, what is dropped, what fails.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::DatagramPair;
using testing::kGrh;

class Datagram : public DatagramPair {};

TEST_F(Datagram, ArrivesBehindTheRoomOfARoutingHeader) {
  a.fill(0, 100, 7);
  ASSERT_EQ(b.post_recv(5, 1000, 200), 0);

  ASSERT_EQ(send(9, 100), 0);
  carry();

  const ibv_wc sent = only_completion(a);
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.wr_id, 9u);
  EXPECT_EQ(sent.opcode, IBV_WC_SEND);
  const ibv_wc received = only_completion(b);
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.wr_id, 5u);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.byte_len, kGrh + 100);
  EXPECT_EQ(received.qp_num, b.qp->qp_num);
  EXPECT_EQ(received.src_qp, a.qp->qp_num);
  EXPECT_EQ(received.wc_flags, unsigned{IBV_WC_GRH});
  EXPECT_TRUE(b.filled(1000 + kGrh, 100, 7));
}

TEST_F(Datagram, ShowsTheIpv4HeaderInTheLastTwentyBytesOfTheRoutingHeader) {
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);
  std::memset(b.memory.data(), 0xee, kGrh);

  ASSERT_EQ(send(1, 16), 0);
  carry();

  const std::uint8_t* const grh = b.memory.data();
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(grh[i], 0) << i;
  EXPECT_EQ(grh[20], 0x45);
  EXPECT_EQ(grh[28], 64);  // time to live
  EXPECT_EQ(grh[29], IPPROTO_UDP);
  EXPECT_EQ(std::memcmp(grh + 32, a.gid.raw + 12, 4), 0);
  EXPECT_EQ(std::memcmp(grh + 36, b.gid.raw + 12, 4), 0);
}

TEST_F(Datagram, ShowsTheWholeIpv6HeaderOfAnIpv6Packet) {
  const auto ipv6 = [](std::uint8_t last) {
    ibv_gid gid{};
    gid.raw[0] = 0xfd;
    gid.raw[15] = last;
    return gid;
  };
  a.hca->set_gid(2, ipv6(1));
  b.hca->set_gid(2, ipv6(2));
  ibv_ah_attr path = path_to(ipv6(2));
  path.grh.sgid_index = 2;
  ibv_ah* ah = a.hca->create_ah(a.pd, path).value();
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 16, {.ah = ah}), 0);
  auto packet = a.hca->next_packet();
  ASSERT_NE(packet, nullptr);
  b.hca->on_packet(runtime.time, std::move(packet));

  ibv_grh grh{};
  std::memcpy(&grh, b.memory.data(), sizeof grh);
  EXPECT_EQ(be32toh(grh.version_tclass_flow) >> 28, 6u);
  EXPECT_EQ(grh.next_hdr, IPPROTO_UDP);
  EXPECT_EQ(std::memcmp(grh.sgid.raw, ipv6(1).raw, 16), 0);
  EXPECT_EQ(std::memcmp(grh.dgid.raw, ipv6(2).raw, 16), 0);
  a.hca->destroy_ah(ah).value();
}

TEST_F(Datagram, CarriesImmediateData) {
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 3, {.opcode = IBV_WR_SEND_WITH_IMM}), 0);
  carry();

  const ibv_wc received = only_completion(b);
  EXPECT_EQ(received.wc_flags, unsigned{IBV_WC_GRH | IBV_WC_WITH_IMM});
  EXPECT_EQ(received.imm_data, htobe32(0x12345678));
  EXPECT_EQ(received.byte_len, kGrh + 3);
}

TEST_F(Datagram, OfNoBytesIsOnlyTheRoutingHeader) {
  ASSERT_EQ(b.post_recv(1, 0, kGrh), 0);

  ASSERT_EQ(send(1, 0), 0);
  carry();

  EXPECT_EQ(only_completion(b).byte_len, kGrh);
}

TEST_F(Datagram, SentInlineIsCopiedWhenItIsPosted) {
  ASSERT_EQ(b.post_recv(1, 1000, 200), 0);
  a.fill(0, 64, 3);

  ASSERT_EQ(send(1, 64, {.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED}), 0);
  a.fill(0, 64, 4);
  carry();

  EXPECT_TRUE(b.filled(1000 + kGrh, 64, 3));
}

TEST_F(Datagram, NumbersItsPacketsOneByOne) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint8_t> opcodes;
  wire = [&](const Packet& packet) {
    const roce::Decoded decoded = roce::decode(packet.payload());
    numbers.push_back(decoded.headers.bth.psn.value());
    opcodes.push_back(decoded.headers.bth.opcode);
    EXPECT_EQ(decoded.headers.deth.queue_key, kQueueKey);
    EXPECT_EQ(value(decoded.headers.deth.source), a.qp->qp_num);
    EXPECT_FALSE(decoded.headers.bth.ack_request);
    return 0;
  };

  for (const auto opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND})
    ASSERT_EQ(send(1, 5, {.opcode = opcode}), 0);
  carry();

  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0xffffff, 0, 1}));
  EXPECT_EQ(opcodes, (std::vector<std::uint8_t>{0x64, 0x65, 0x64}));
}

TEST_F(Datagram, ThatIsLostCompletesAllTheSame) {
  wire = [](const Packet&) { return 0; };
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10), 0);
  settle();

  EXPECT_EQ(only_completion(a).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(Datagram, AsLongAsTheMtuPassesAndALongerOneIsNeverSentWithoutAnError) {
  ASSERT_EQ(b.post_recv(1, 0, 8000), 0);
  ASSERT_EQ(b.post_recv(2, 8000, 8000), 0);

  ASSERT_EQ(send(1, 4096), 0);
  ASSERT_EQ(send(2, 4097), 0);
  carry();

  EXPECT_EQ(carried, 1u);
  const auto sent = a.poll();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].status, IBV_WC_SUCCESS);
  EXPECT_EQ(a.hca->counters().too_long, 1u);
  EXPECT_EQ(only_completion(b).byte_len, kGrh + 4096);
}

TEST_F(Datagram, WithAnotherQueueKeyIsDroppedAndCounted) {
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10, {.queue_key = 0x22222222}), 0);
  carry();

  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().bad_queue_key, 1u);
}

TEST_F(Datagram, WithTheHighBitInItsQueueKeyCarriesTheSendersOwn) {
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10, {.queue_key = 0x80000000}), 0);
  carry();

  EXPECT_EQ(only_completion(b).status, IBV_WC_SUCCESS);
}

TEST_F(Datagram, ForWhichNothingIsPostedIsDroppedAndCounted) {
  ASSERT_EQ(send(1, 10), 0);
  carry();

  EXPECT_TRUE(b.poll().empty());
  EXPECT_EQ(b.hca->counters().no_receive, 1u);
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Datagram, TooLongForItsReceiveIsALocalLengthErrorAndEndsTheQueuePair) {
  for (const std::uint32_t room : {kGrh - 1, kGrh + 9}) {
    ASSERT_EQ(b.post_recv(1, 0, room), 0);
    ASSERT_EQ(b.post_recv(2, 0, 200), 0);

    ASSERT_EQ(send(1, 10), 0);
    carry();

    const auto received = b.poll();
    ASSERT_EQ(received.size(), 2u);
    EXPECT_EQ(received[0].status, IBV_WC_LOC_LEN_ERR);
    EXPECT_EQ(received[1].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
    ASSERT_EQ(b.modify(IBV_QPS_RESET, 0, {}), 0);
    to_rts(b, b.qp, kQueueKey);
  }
}

TEST_F(Datagram, ReceiveIntoMemoryThatIsGoneIsAProtectionError) {
  ibv_sge sge = b.piece(0, 200);
  sge.lkey ^= 1;
  ibv_recv_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(b.qp, &request, &bad), 0);

  ASSERT_EQ(send(1, 10), 0);
  carry();

  EXPECT_EQ(only_completion(b).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Datagram, OfMemoryThatIsGoneStopsTheSendQueueAndLeavesTheReceivesAlone) {
  ASSERT_EQ(a.post_recv(7, 0, 200), 0);
  ASSERT_EQ(send(1, 10), 0);
  ASSERT_EQ(send(2, 10), 0);
  a.hca->dereg_mr(a.mr).value();
  a.mr = nullptr;
  carry();

  const auto completions = a.poll();
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(completions[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(a.qp->state, IBV_QPS_SQE);
  EXPECT_EQ(carried, 0u);
}

TEST_F(Datagram, SendQueueStoppedByAnErrorGoesOnAfterwards) {
  ibv_ah_attr path = path_to(b.gid);
  ibv_pd* other = a.hca->alloc_pd(a.context).value();
  ibv_ah* foreign = a.hca->create_ah(other, path).value();
  ASSERT_EQ(send(1, 10, {.ah = foreign}), 0);
  carry();
  EXPECT_EQ(only_completion(a).status, IBV_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(a.qp->state, IBV_QPS_SQE);
  ASSERT_EQ(send(2, 10), 0);
  EXPECT_EQ(only_completion(a).status, IBV_WC_WR_FLUSH_ERR);

  ASSERT_EQ(a.modify(IBV_QPS_RTS, 0, {}), 0);
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);
  ASSERT_EQ(send(3, 10), 0);
  carry();

  EXPECT_EQ(only_completion(b).status, IBV_WC_SUCCESS);
  a.hca->destroy_ah(foreign).value();
  a.hca->dealloc_pd(other).value();
}

TEST_F(Datagram, GoesOnAlthoughItsAddressHandleIsGone) {
  ibv_ah* ah = a.hca->create_ah(a.pd, path_to(b.gid)).value();
  ASSERT_EQ(b.post_recv(1, 0, 200), 0);

  ASSERT_EQ(send(1, 10, {.ah = ah}), 0);
  a.hca->destroy_ah(ah).value();
  carry();

  EXPECT_EQ(only_completion(b).status, IBV_WC_SUCCESS);
}

TEST_F(Datagram, RequestThatTheServiceDoesNotKnowIsRefused) {
  EXPECT_EQ(send(1, 10, {.opcode = IBV_WR_RDMA_WRITE}), EINVAL);
  EXPECT_EQ(send(1, 10, {.opcode = IBV_WR_RDMA_READ}), EINVAL);
  EXPECT_EQ(send(1, 200, {.flags = IBV_SEND_INLINE}), EINVAL);  // 128 are granted
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;  // no address handle
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(a.qp, &request, &bad), EINVAL);
  EXPECT_EQ(bad, &request);
}

TEST_F(Datagram, SendsBeyondTheDepthAreRefused) {
  ASSERT_EQ(a.modify(IBV_QPS_SQD, 0, {}), 0);  // nothing leaves
  for (unsigned i = 0; i < 64; ++i) ASSERT_EQ(send(i, 1), 0);

  EXPECT_EQ(send(64, 1), ENOMEM);
}

TEST_F(Datagram, BeforeReadyToReceiveIsDropped) {
  ASSERT_EQ(b.modify(IBV_QPS_RESET, 0, {}), 0);

  ASSERT_EQ(send(1, 10), 0);
  carry();

  EXPECT_EQ(b.hca->counters().wrong_state, 1u);
}

TEST_F(Datagram, ForAConnectionOrForNobodyIsDropped) {
  b.hca->destroy_qp(b.qp).value();
  b.create_qp({});

  ASSERT_EQ(send(1, 10), 0);
  ASSERT_EQ(send(2, 10, {.qpn = 0xabcdef}), 0);
  carry();

  EXPECT_EQ(b.hca->counters().unknown_qp, 2u);
}

TEST_F(Datagram, ForAnAddressThatIsNotOursIsDropped) {
  ibv_ah* ah = a.hca->create_ah(a.pd, path_to(testing::ipv4_gid(9))).value();

  ASSERT_EQ(send(1, 10, {.ah = ah}), 0);
  carry();

  EXPECT_EQ(b.hca->counters().unknown_qp, 1u);
  a.hca->destroy_ah(ah).value();
}

TEST_F(Datagram, FlushesBothQueuesInError) {
  ASSERT_EQ(a.post_recv(1, 0, 200), 0);
  ASSERT_EQ(a.modify(IBV_QPS_SQD, 0, {}), 0);
  ASSERT_EQ(send(2, 1), 0);

  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);

  const auto completions = a.poll();
  ASSERT_EQ(completions.size(), 2u);
  for (const ibv_wc& wc : completions) EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Datagram, SolicitedWakesWhoAskedForSolicitedCompletionsOnly) {
  ibv_comp_channel* channel = b.hca->create_comp_channel(b.context).value();
  ibv_cq* cq = b.hca->create_cq(b.context, 10, nullptr, channel, 0).value();
  b.hca->destroy_qp(b.qp).value();
  std::swap(b.cq, cq);
  b.qp = make_qp(b);
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 1), 0);
  for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(b.post_recv(i, 0, 200), 0);

  ASSERT_EQ(send(1, 10), 0);
  carry();
  EXPECT_FALSE(b.hca->get_cq_event(channel).has_value());
  ASSERT_EQ(send(2, 10, {.flags = IBV_SEND_SOLICITED}), 0);
  carry();

  EXPECT_TRUE(b.hca->get_cq_event(channel).has_value());
  b.hca->ack_cq_events(b.cq, 1);
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;
  std::swap(b.cq, cq);
  b.hca->destroy_cq(cq).value();
  b.hca->destroy_comp_channel(channel).value();
}

// --- address handles ----------------------------------------------------------------------------

class AddressHandle : public DatagramPair {};

TEST_F(AddressHandle, RefusesPathsThatTheDeviceCannotGo) {
  const auto error_of = [this](const auto& change) {
    ibv_ah_attr path = path_to(b.gid);
    change(path);
    const auto made = a.hca->create_ah(a.pd, path);
    return made ? 0 : made.error().value();
  };
  EXPECT_EQ(error_of([](ibv_ah_attr& path) { path.is_global = 0; }), EINVAL);
  EXPECT_EQ(error_of([](ibv_ah_attr& path) { path.port_num = 0; }), EINVAL);
  EXPECT_EQ(error_of([](ibv_ah_attr& path) { path.port_num = 2; }), EINVAL);
  EXPECT_EQ(error_of([](ibv_ah_attr& path) { path.grh.sgid_index = 5; }), EINVAL);  // empty
  EXPECT_EQ(error_of([](ibv_ah_attr& path) { path.grh.sgid_index = 200; }), EINVAL);
}

TEST_F(AddressHandle, KeepsItsDomainBusy) {
  ibv_pd* pd = a.hca->alloc_pd(a.context).value();
  ibv_ah* ah = a.hca->create_ah(pd, path_to(b.gid)).value();
  EXPECT_EQ(ah->pd, pd);
  EXPECT_EQ(ah->context, a.context);

  EXPECT_EQ(a.hca->dealloc_pd(pd).error().value(), EBUSY);

  a.hca->destroy_ah(ah).value();
  a.hca->dealloc_pd(pd).value();
}

TEST_F(AddressHandle, LimitIsOutOfMemory) {
  HcaConfig config;
  config.max_ah = 1;
  const auto hca = Hca::create(runtime, random, pool, config);
  hca->set_gid(1, a.gid);
  ibv_context* context = hca->open_device(hca->device()).value();
  ibv_pd* pd = hca->alloc_pd(context).value();
  ibv_ah* only = hca->create_ah(pd, path_to(b.gid)).value();

  EXPECT_EQ(hca->create_ah(pd, path_to(b.gid)).error().value(), ENOMEM);

  hca->destroy_ah(only).value();
  hca->create_ah(pd, path_to(b.gid)).value();  // left to the device
}

TEST_F(AddressHandle, CannotBeMadeOnADeviceThatIsGone) {
  a.hca->remove();

  EXPECT_EQ(a.hca->create_ah(a.pd, path_to(b.gid)).error().value(), EIO);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
