// Shared receive queues under connections and datagrams.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::DatagramPair;
using testing::kGrh;
using testing::Pair;
using testing::Side;

ibv_srq* make_srq(Side& side, std::uint32_t max_wr = 16, std::uint32_t max_sge = 2) {
  ibv_srq_init_attr init{};
  init.attr.max_wr = max_wr;
  init.attr.max_sge = max_sge;
  return side.hca->create_srq(side.pd, &init).value();
}

int post(Side& side, ibv_srq* srq, std::uint64_t id, std::size_t offset, std::uint32_t length) {
  ibv_sge sge = side.piece(offset, length);
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_srq_recv(srq, &request, &bad);
}

int set_limit(Side& side, ibv_srq* srq, std::uint32_t limit) {
  const auto result = side.hca->modify_srq(srq, {0, 0, limit}, IBV_SRQ_LIMIT);
  return result ? 0 : result.error().value();
}

int resize(Side& side, ibv_srq* srq, std::uint32_t max_wr) {
  const auto result = side.hca->modify_srq(srq, {max_wr, 0, 0}, IBV_SRQ_MAX_WR);
  return result ? 0 : result.error().value();
}

ibv_srq_attr query(Side& side, ibv_srq* srq) {
  ibv_srq_attr attr{};
  side.hca->query_srq(srq, &attr).value();
  return attr;
}

// Side b of a connection receives from a shared queue.
class SharedReceives : public Pair {
 protected:
  SharedReceives() : srq(make_srq(b)) {
    const ConnectionOptions options;
    ConnectionOptions with_srq;
    with_srq.srq = srq;
    with_srq.cap.max_recv_wr = 1'000'000;  // ignored
    a.create_qp(options);
    b.create_qp(with_srq);
    for (Side* side : {&a, &b}) side->to_init(options);
    a.to_rtr(options, b);
    b.to_rtr(options, a);
    for (Side* side : {&a, &b}) side->to_rts(options);
  }
  ~SharedReceives() override {
    if (b.qp != nullptr) b.hca->destroy_qp(b.qp).value();
    b.qp = nullptr;
    b.hca->destroy_srq(srq).value();
  }

  ibv_srq* srq;
};

TEST_F(SharedReceives, ServeAConnectionsMessagesInOrder) {
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(post(b, srq, i, i * 2000, 2000), 0);
  a.fill(0, 1000, 5);  // four packets

  for (unsigned i = 0; i < 3; ++i) ASSERT_EQ(a.post_send(IBV_WR_SEND, i, 0, 1000), 0);
  settle();

  const auto received = b.poll();
  ASSERT_EQ(received.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(received[i].wr_id, i);
    EXPECT_EQ(received[i].qp_num, b.qp->qp_num);
    EXPECT_TRUE(b.filled(i * 2000, 1000, 5));
  }
}

TEST_F(SharedReceives, EmptyMakeTheConnectionWait) {
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  carry();
  EXPECT_EQ(b.hca->counters().rnr_naks_sent, 1u);

  ASSERT_EQ(post(b, srq, 7, 0, 100), 0);
  settle();

  ASSERT_EQ(b.poll().size(), 1u);
}

TEST_F(SharedReceives, WriteWithImmediateTakesOneToo) {
  ASSERT_EQ(post(b, srq, 7, 0, 100), 0);

  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 10, &b, 5000), 0);
  settle();

  const auto received = b.poll();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[0].wr_id, 7u);
}

TEST_F(SharedReceives, OfAConnectionInErrorStayForTheOthers) {
  ASSERT_EQ(post(b, srq, 7, 0, 1000), 0);
  ASSERT_EQ(post(b, srq, 8, 1000, 1000), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 600), 0);
  ASSERT_TRUE(carry_one());  // the first of three packets: the message holds a receive

  ASSERT_EQ(b.modify(IBV_QPS_ERR, 0, {}), 0);

  const auto flushed = b.poll();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].wr_id, 7u);
  EXPECT_EQ(flushed[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(b.events(), std::vector<ibv_event_type>{IBV_EVENT_QP_LAST_WQE_REACHED});
  ASSERT_EQ(b.modify(IBV_QPS_ERR, 0, {}), 0);
  EXPECT_TRUE(b.events().empty());  // said once
}

TEST_F(SharedReceives, QueuePairHasNoQueueOfItsOwn) {
  EXPECT_EQ(b.post_recv(1, 0, 100), EINVAL);
}

TEST_F(SharedReceives, AreBusyWhileAQueuePairUsesThem) {
  EXPECT_EQ(b.hca->destroy_srq(srq).error().value(), EBUSY);
  EXPECT_EQ(b.hca->dealloc_pd(b.pd).error().value(), EBUSY);
}

TEST_F(SharedReceives, LimitIsAnnouncedOnceWhenFewerAreLeft) {
  for (unsigned i = 0; i < 4; ++i) ASSERT_EQ(post(b, srq, i, 0, 100), 0);
  ASSERT_EQ(set_limit(b, srq, 3), 0);
  EXPECT_EQ(query(b, srq).srq_limit, 3u);

  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  EXPECT_TRUE(b.events().empty());  // three are left
  for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(a.post_send(IBV_WR_SEND, i, 0, 10), 0);
  settle();

  EXPECT_EQ(b.events(), std::vector<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED});
  EXPECT_EQ(query(b, srq).srq_limit, 0u);
}

TEST_F(SharedReceives, DestructionWaitsForTheAcknowledgementOfTheEvent) {
  ASSERT_EQ(post(b, srq, 1, 0, 100), 0);
  ASSERT_EQ(set_limit(b, srq, 1), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  const ibv_async_event event = b.hca->get_async_event(b.context).value();
  ASSERT_EQ(event.element.srq, srq);
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;

  EXPECT_EQ(b.hca->destroy_srq(srq).error().value(), EDEADLK);  // nobody will acknowledge
  runtime.when_empty = [&] { b.hca->ack_async_event(event); };
  ibv_srq* const other = make_srq(b);
  b.hca->destroy_srq(srq).value();

  runtime.when_empty = nullptr;
  srq = other;
}

TEST_F(SharedReceives, UnreadEventGoesWithItsQueue) {
  ASSERT_EQ(post(b, srq, 1, 0, 100), 0);
  ASSERT_EQ(set_limit(b, srq, 1), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;
  ibv_srq* const other = make_srq(b);

  b.hca->destroy_srq(srq).value();

  srq = other;
  EXPECT_TRUE(b.events().empty());
}

TEST_F(SharedReceives, RefuseWhatDoesNotFit) {
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  request.num_sge = 3;  // two are granted
  EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), EINVAL);
  EXPECT_EQ(bad, &request);
  request.num_sge = -1;
  EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), EINVAL);
  request.num_sge = 1;
  EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), EINVAL);  // no list
  for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(post(b, srq, i, 0, 100), 0);
  EXPECT_EQ(post(b, srq, 16, 0, 100), ENOMEM);
}

TEST_F(SharedReceives, CanGrowAndShrinkToWhatIsPosted) {
  for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(post(b, srq, i, 0, 100), 0);

  EXPECT_EQ(resize(b, srq, 15), EINVAL);
  EXPECT_EQ(resize(b, srq, 17), 0);

  EXPECT_EQ(post(b, srq, 16, 0, 100), 0);
  EXPECT_EQ(query(b, srq).max_wr, 17u);
  EXPECT_EQ(resize(b, srq, 0), EINVAL);
  EXPECT_EQ(resize(b, srq, 1'000'000), EINVAL);
  EXPECT_EQ(set_limit(b, srq, 18), EINVAL);
  EXPECT_EQ(b.hca->modify_srq(srq, {}, 1 << 5).error().value(), EINVAL);
}

TEST_F(SharedReceives, CreationIsCheckedAgainstTheDevice) {
  const auto error_of = [this](std::uint32_t max_wr, std::uint32_t max_sge) {
    ibv_srq_init_attr init{};
    init.attr.max_wr = max_wr;
    init.attr.max_sge = max_sge;
    return b.hca->create_srq(b.pd, &init).error().value();
  };
  EXPECT_EQ(error_of(0, 1), EINVAL);
  EXPECT_EQ(error_of(32769, 1), EINVAL);
  EXPECT_EQ(error_of(1, 33), EINVAL);

  HcaConfig config;
  config.max_srq = 1;
  const auto hca = Hca::create(runtime, random, pool, config);
  ibv_context* context = hca->open_device(hca->device()).value();
  ibv_pd* pd = hca->alloc_pd(context).value();
  ibv_srq_init_attr init{};
  init.attr.max_wr = 1;
  ibv_srq* only = hca->create_srq(pd, &init).value();
  EXPECT_EQ(hca->create_srq(pd, &init).error().value(), ENOMEM);
  hca->remove();
  EXPECT_EQ(hca->create_srq(pd, &init).error().value(), EIO);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_srq_recv(only, &request, &bad), EIO);
  // The rest is left to the device.
}

class SharedDatagrams : public DatagramPair {};

TEST_F(SharedDatagrams, GoToTheQueuePairTheyAreFor) {
  ibv_srq* srq = make_srq(b);
  ibv_qp* first = make_qp(b, kQueueKey, srq);
  ibv_qp* second = make_qp(b, kQueueKey, srq);
  ASSERT_EQ(post(b, srq, 1, 1000, 200), 0);
  ASSERT_EQ(post(b, srq, 2, 2000, 200), 0);

  ASSERT_EQ(send(1, 10, {.qpn = second->qp_num}), 0);
  ASSERT_EQ(send(2, 10, {.qpn = first->qp_num}), 0);
  ASSERT_EQ(send(3, 10, {.qpn = first->qp_num}), 0);
  carry();

  const auto received = b.poll();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].qp_num, second->qp_num);
  EXPECT_EQ(received[0].wr_id, 1u);
  EXPECT_EQ(received[1].qp_num, first->qp_num);
  EXPECT_EQ(received[1].byte_len, kGrh + 10);
  EXPECT_EQ(b.hca->counters().no_receive, 1u);
  for (ibv_qp* qp : {first, second}) b.hca->destroy_qp(qp).value();
  b.hca->destroy_srq(srq).value();
}

}  // namespace
}  // namespace anyrdma::verbs::soft
