// When a place of a work queue is free again.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::DatagramPair;
using testing::Pair;

constexpr unsigned kUnsignaled = 0;

ConnectionOptions of_depth(std::uint32_t depth) {
  ConnectionOptions options;
  options.cap.max_send_wr = options.cap.max_recv_wr = depth;
  return options;
}

class Places : public Pair {
 protected:
  using Pair::Pair;

  int write(unsigned flags = IBV_SEND_SIGNALED) {
    return a.post_send(IBV_WR_RDMA_WRITE, ++id_, 0, 8, &b, 0, flags);
  }
  /// Posts until it fails. Returns how many posts have succeeded; the last error is `error`.
  std::uint32_t write_until_full(unsigned flags, int& error) {
    std::uint32_t count = 0;
    while (count < 100 && (error = write(flags)) == 0) {
      ++count;
      settle();
    }
    return count;
  }

 private:
  std::uint64_t id_ = 0;
};

TEST_F(Places, OfASendIsFreeWhenItsCompletionIsPolledAndNotBefore) {
  connect(of_depth(2));
  ASSERT_EQ(write(), 0);
  ASSERT_EQ(write(), 0);
  settle();
  EXPECT_EQ(write(), ENOMEM) << "both are complete, and no completion is polled";
  ibv_wc one{};
  ASSERT_EQ(ibv_poll_cq(a.cq, 1, &one), 1);
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(write(), ENOMEM);
}

TEST_F(Places, OfUnsignaledSendsAreFreeWithTheNextSignaledOne) {
  connect(of_depth(4));
  ASSERT_EQ(write(kUnsignaled), 0);
  ASSERT_EQ(write(kUnsignaled), 0);
  ASSERT_EQ(write(), 0);
  ASSERT_EQ(write(kUnsignaled), 0);
  settle();
  EXPECT_EQ(write(), ENOMEM);
  ASSERT_EQ(a.poll().size(), 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(write(), 0) << i;
  EXPECT_EQ(write(), ENOMEM) << "the last unsignaled one is covered by no completion yet";
  settle();
  ASSERT_EQ(a.poll().size(), 3u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(write(), 0) << i;
}

TEST_F(Places, AreNeverFreeWithoutAnySignaledRequest) {
  connect(of_depth(8));
  int error = 0;
  EXPECT_EQ(write_until_full(kUnsignaled, error), 8u);
  EXPECT_EQ(error, ENOMEM);
  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(write(), ENOMEM) << "polling an empty queue frees nothing";
}

TEST_F(Places, AreFreeAfterReset) {
  connect(of_depth(3));
  int error = 0;
  ASSERT_EQ(write_until_full(kUnsignaled, error), 3u);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(a.post_recv(1, 0, 8), 0);
  ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  a.to_init({});
  a.to_rtr({}, b);
  a.to_rts({});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.post_recv(1, 0, 8), 0) << i;
  EXPECT_EQ(a.post_recv(1, 0, 8), ENOMEM);
  EXPECT_EQ(write_until_full(kUnsignaled, error), 3u);
}

TEST_F(Places, OfFlushedRequestsAreFreeWhenTheirCompletionsArePolled) {
  connect(of_depth(2));
  ASSERT_EQ(write(kUnsignaled), 0);
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(write(), 0);
  EXPECT_EQ(write(), ENOMEM) << "flushed, but not polled";
  for (int i = 0; i < 2; ++i) ASSERT_EQ(a.post_recv(1, 0, 8), 0);
  EXPECT_EQ(a.post_recv(1, 0, 8), ENOMEM);
  EXPECT_EQ(a.poll().size(), 4u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(write(), 0) << i;
    EXPECT_EQ(a.post_recv(1, 0, 8), 0) << i;
  }
}

TEST_F(Places, OfAReceiveIsFreeWhenItsCompletionIsPolled) {
  connect(of_depth(2));
  for (int i = 0; i < 2; ++i) ASSERT_EQ(b.post_recv(1, 0, 8), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 8), 0);
  settle();
  EXPECT_EQ(b.post_recv(1, 0, 8), ENOMEM);
  ASSERT_EQ(b.poll().size(), 1u);
  EXPECT_EQ(b.post_recv(1, 0, 8), 0);
  EXPECT_EQ(b.post_recv(1, 0, 8), ENOMEM);
}

TEST_F(Places, OfQueuePairsThatShareACompletionQueueAreApart) {
  connect(of_depth(1));
  ibv_qp* const first = a.qp;
  a.create_qp(of_depth(1));
  ibv_qp* const second = std::exchange(a.qp, first);
  ASSERT_EQ(write(), 0);
  settle();
  a.qp = second;
  const std::uint32_t before = a.first_psn;
  a.to_init({});
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(write(), 0) << "it is flushed";
  a.qp = first;
  a.first_psn = before;
  EXPECT_EQ(write(), ENOMEM);
  ibv_wc one{};
  ASSERT_EQ(ibv_poll_cq(a.cq, 1, &one), 1);
  ASSERT_EQ(one.qp_num, first->qp_num);
  EXPECT_EQ(write(), 0);
  a.qp = second;
  EXPECT_EQ(write(), ENOMEM) << "the other's completion is still there";
  a.hca->destroy_qp(second).value();
  a.qp = first;
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
}

TEST_F(Places, OfAnOverrunCompletionQueueAreFreeAfterReset) {
  ibv_cq* const small = a.hca->create_cq(a.context, 1, nullptr, nullptr, 0).value();
  ibv_cq* const large = std::exchange(a.cq, small);
  connect(of_depth(3));
  a.cq = large;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(write(), 0);
  settle();
  EXPECT_EQ(a.qp->state, IBV_QPS_ERR);
  ibv_wc one{};
  ASSERT_EQ(ibv_poll_cq(small, 1, &one), 1);
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(write(), ENOMEM) << "no completion of the others ever comes";
  ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  a.to_init({});
  a.to_rtr({}, b);
  a.to_rts({});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(write(), 0) << i;
  (void)a.events();
  a.hca->destroy_qp(std::exchange(a.qp, nullptr)).value();
  a.hca->destroy_cq(small).value();
}

TEST_F(Places, OfDroppedCompletionsAreFree) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 1;
  init.wc_flags = IBV_WC_STANDARD_FLAGS;
  init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  ibv_cq_ex* const overwriting = ibv_create_cq_ex(a.context, &init);
  ASSERT_NE(overwriting, nullptr);
  ibv_cq* const large = std::exchange(a.cq, ibv_cq_ex_to_cq(overwriting));
  connect(of_depth(3));
  a.cq = large;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(write(), 0);
  settle();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(write(), 0) << i;
  EXPECT_EQ(write(), ENOMEM);
  a.hca->destroy_qp(std::exchange(a.qp, nullptr)).value();
  a.hca->destroy_cq(ibv_cq_ex_to_cq(overwriting)).value();
}

TEST_F(Places, AreFreeWithEachStepOfAnExtendedPoll) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 8;
  init.wc_flags = IBV_WC_STANDARD_FLAGS;
  ibv_cq_ex* const extended = ibv_create_cq_ex(a.context, &init);
  ASSERT_NE(extended, nullptr);
  ibv_cq* const plain = std::exchange(a.cq, ibv_cq_ex_to_cq(extended));
  connect(of_depth(2));
  a.cq = plain;
  ASSERT_EQ(write(), 0);
  ASSERT_EQ(write(), 0);
  settle();
  ASSERT_EQ(write(), ENOMEM);
  ibv_poll_cq_attr attr{};
  ASSERT_EQ(ibv_start_poll(extended, &attr), 0);
  EXPECT_EQ(write(), 0);
  EXPECT_EQ(write(), ENOMEM);
  ASSERT_EQ(ibv_next_poll(extended), 0);
  EXPECT_EQ(write(), 0);
  ibv_end_poll(extended);
  a.hca->destroy_qp(std::exchange(a.qp, nullptr)).value();
  a.hca->destroy_cq(ibv_cq_ex_to_cq(extended)).value();
}

// The completions of two queue pairs may be polled in any order.
TEST_F(Places, OfASharedReceiveQueueAreFreeWhenACompletionIsPolled) {
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 2, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const srq = b.hca->create_srq(b.pd, &init).value();
  ConnectionOptions receiving;
  receiving.srq = srq;
  a.create_qp({});
  b.create_qp(receiving);
  for (auto* side : {&a, &b}) side->to_init({});
  a.to_rtr({}, b);
  b.to_rtr({}, a);
  for (auto* side : {&a, &b}) side->to_rts({});
  const auto post = [&] {
    ibv_sge sge = b.piece(0, 8);
    ibv_recv_wr request{.wr_id = 1, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    return ibv_post_srq_recv(srq, &request, &bad);
  };
  for (int i = 0; i < 2; ++i) ASSERT_EQ(post(), 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 8), 0);
  settle();
  EXPECT_EQ(post(), ENOMEM) << "both are filled, and no completion is polled";
  const auto shrunk = b.hca->modify_srq(srq, {1, 0, 0}, IBV_SRQ_MAX_WR);
  EXPECT_FALSE(shrunk);
  ibv_wc one{};
  ASSERT_EQ(ibv_poll_cq(b.cq, 1, &one), 1);
  EXPECT_EQ(post(), 0);
  EXPECT_EQ(post(), ENOMEM);
  b.hca->destroy_qp(std::exchange(b.qp, nullptr)).value();
  EXPECT_EQ(post(), 0) << "the unpolled completion went with its queue pair";
  EXPECT_EQ(post(), ENOMEM);
  b.hca->destroy_srq(srq).value();
}

class PlacesOfDatagrams : public DatagramPair {};

TEST_F(PlacesOfDatagrams, AreFreeWhenACompletionIsPolled) {
  constexpr std::uint32_t kDepth = 64;
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    ASSERT_EQ(send(i, 8), 0);
    settle();
  }
  EXPECT_EQ(send(kDepth, 8), ENOMEM);
  ibv_wc one{};
  ASSERT_EQ(ibv_poll_cq(a.cq, 1, &one), 1);
  EXPECT_EQ(send(kDepth, 8), 0);
}

class PlacesOfSoftRoce : public Places {
 protected:
  PlacesOfSoftRoce()
      : Places([] {
          HcaConfig config;
          config.free_when_executed = true;
          return config;
        }()) {}
};

TEST_F(PlacesOfSoftRoce, AreFreeWhenTheRequestIsExecuted) {
  connect(of_depth(2));
  int error = 0;
  EXPECT_EQ(write_until_full(kUnsignaled, error), 100u);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(b.post_recv(1, 0, 8), 0) << i;
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 8), 0) << i;
    settle();
  }
  EXPECT_EQ(a.poll().size(), 10u);
  EXPECT_EQ(b.poll().size(), 10u);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
