// What a program does wrong with verbs and we can see: reported as its mistake, and nobody dies or
// waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "verbs/misuse.h"
#include "verbs/soft/testing/pair.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Pair;
using verbs::testing::errno_of;

class VerbsMisuse : public Pair {
 protected:
  VerbsMisuse() {
    heard.clear();
    listen_for_misuse([](Runtime&, const Misuse& misuse) {
      heard.push_back(to_string(misuse));
      return true;
    });
  }
  ~VerbsMisuse() override { listen_for_misuse(nullptr); }

  inline static std::vector<std::string> heard;
};

TEST_F(VerbsMisuse, AQueuePairIsDestroyedTwice) {
  connect();
  ibv_qp* const qp = std::exchange(b.qp, nullptr);
  ASSERT_EQ(errno_of(b.hca->destroy_qp(qp)), 0);
  const std::string handle = std::to_string(qp->handle);

  EXPECT_EQ(errno_of(b.hca->destroy_qp(qp)), ENOENT);

  EXPECT_THAT(heard, ElementsAre("ibv_destroy_qp: queue pair with handle " + handle +
                                 ": was destroyed already"));
}

TEST_F(VerbsMisuse, AStructIsKeptAndUsedToDestroyAnObjectAgain) {
  ibv_mr* const region = b.hca->reg_mr(b.pd, b.memory.data(), 8, 0, 0).value();
  ibv_mr copy = *region;
  ASSERT_EQ(errno_of(b.hca->dereg_mr(region)), 0);

  EXPECT_EQ(errno_of(b.hca->dereg_mr(&copy)), ENOENT);

  EXPECT_THAT(heard, ElementsAre(HasSubstr("ibv_dereg_mr: memory region with handle")));
}

TEST_F(VerbsMisuse, AHandleThatNeverWasIsAnErrorLikeAnyOther) {
  ibv_mr copy = *b.mr;
  copy.handle = 0x7fff'fff0;

  EXPECT_EQ(errno_of(b.hca->dereg_mr(&copy)), ENOENT);

  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(VerbsMisuse, CompletionEventsAreAcknowledgedThatWereNotTaken) {
  ibv_comp_channel* const channel = b.hca->create_comp_channel(b.context).value();
  ibv_cq* const cq = b.hca->create_cq(b.context, 4, nullptr, channel, 0).value();

  b.hca->ack_cq_events(cq, 2);

  EXPECT_THAT(heard, ElementsAre("ibv_ack_cq_events: completion queue 2: acknowledges 2 completion "
                                 "events of 0 that were taken and not yet acknowledged"));
  EXPECT_EQ(errno_of(b.hca->destroy_cq(cq)), 0) << "which would wait for ever otherwise";
  EXPECT_EQ(errno_of(b.hca->destroy_comp_channel(channel)), 0);
}

TEST_F(VerbsMisuse, AnAsynchronousEventIsAcknowledgedTwice) {
  ConnectionOptions options;
  options.access = 0;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  const ibv_async_event event = b.hca->get_async_event(b.context).value();
  b.hca->ack_async_event(event);
  EXPECT_THAT(heard, IsEmpty());

  b.hca->ack_async_event(event);

  EXPECT_THAT(heard, ElementsAre("ibv_ack_async_event: queue pair " + std::to_string(b.qp->qp_num) +
                                 ": acknowledges QP_REQ_ERR, but has no asynchronous event that "
                                 "waits for that"));
  EXPECT_EQ(b.qp->events_completed, 1u);
  EXPECT_EQ(errno_of(b.hca->destroy_qp(std::exchange(b.qp, nullptr))), 0);
}

TEST_F(VerbsMisuse, ABracketIsOpenedTwiceByOneThread) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 4;
  const verbs_context& operations = *verbs_get_ctx(b.context);
  ibv_cq_ex* const queue = operations.create_cq_ex(b.context, &init);
  ASSERT_NE(queue, nullptr);
  ibv_qp_init_attr_ex pair{};
  pair.send_cq = pair.recv_cq = ibv_cq_ex_to_cq(queue);
  pair.cap = {4, 4, 1, 1, 0};
  pair.qp_type = IBV_QPT_RC;
  pair.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  pair.pd = b.pd;
  pair.send_ops_flags = IBV_QP_EX_WITH_SEND;
  ibv_qp* const qp = operations.create_qp_ex(b.context, &pair);
  ASSERT_NE(qp, nullptr);
  ibv_qp_ex* const extended = b.hca->qp_to_qp_ex(qp);

  ibv_wr_start(extended);
  ibv_wr_send(extended);
  ibv_wr_start(extended);

  EXPECT_THAT(heard, ElementsAre(HasSubstr("ibv_wr_start: queue pair")));
  EXPECT_EQ(ibv_wr_complete(extended), EINVAL) << "what was collected is not posted in part";
  EXPECT_EQ(errno_of(b.hca->destroy_qp(qp)), 0);
  EXPECT_EQ(errno_of(b.hca->destroy_cq(ibv_cq_ex_to_cq(queue))), 0);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
