// create_qp, destroy_qp, init_qp_attr.
#include "cm/cm_fixture.h"
#include "verbs/channels.h"

namespace anyrdma::cm::testing {
namespace {

class IdQp : public CmTest {
 protected:
  Placed placed_ = place(Place::kAddrResolved);
  ibv_qp_init_attr attributes_ = qp_attributes();
};

TEST_F(IdQp, IsCreatedInInitOnTheSharedDomainWithItsOwnQueues) {
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), 0);

  const rdma_cm_id& id = *placed_.id->raw();
  EXPECT_EQ(id.qp->state, IBV_QPS_INIT);
  EXPECT_EQ(id.qp->pd, id.pd);
  EXPECT_EQ(id.qp->send_cq, id.send_cq);
  EXPECT_EQ(id.qp->recv_cq, id.recv_cq);
  EXPECT_EQ(id.send_cq->channel, id.send_cq_channel);
  EXPECT_EQ(id.recv_cq->channel, id.recv_cq_channel);
  EXPECT_NE(id.send_cq, id.recv_cq);
  EXPECT_EQ(id.send_cq->cq_context, &id);
  EXPECT_EQ(id.send_cq->cqe, 8);
  EXPECT_EQ(attributes_.send_cq, id.send_cq) << "the caller learns what was made";
  EXPECT_EQ(attributes_.cap.max_inline_data, 64u) << "and what was granted";

  EXPECT_EQ(errno_of(placed_.id->destroy_qp()), 0);
  EXPECT_EQ(id.qp, nullptr);
  EXPECT_EQ(id.send_cq, nullptr);
  EXPECT_EQ(id.recv_cq_channel, nullptr);
  EXPECT_EQ(provider_.live, (verbs::testing::FakeProvider::Live{.pds = 1}));
}

// An allocator gives the memory of the last channel to the next one.
TEST_F(IdQp, MakesChannelsThatAreAliveWhereOthersWereDestroyed) {
  const rdma_cm_id& id = *placed_.id->raw();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(verbs::destroy_channel(verbs::create_channel(provider_.context()).value()));
    attributes_ = qp_attributes();
    ASSERT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), 0);
    EXPECT_FALSE(verbs::channel_has_ended(id.send_cq_channel));
    EXPECT_FALSE(verbs::channel_has_ended(id.recv_cq_channel));

    const ibv_comp_channel* const channel = id.recv_cq_channel;
    ASSERT_EQ(errno_of(placed_.id->destroy_qp()), 0);
    EXPECT_TRUE(verbs::channel_has_ended(channel));
  }
}

TEST_F(IdQp, UsesTheApplicationsQueuesAndLeavesThemAlone) {
  ibv_cq* cq = provider_.create_cq(provider_.context(), 16, nullptr, nullptr, 0).value();
  attributes_.send_cq = cq;
  attributes_.recv_cq = cq;

  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), 0);
  EXPECT_EQ(provider_.live.cqs, 1u);
  EXPECT_EQ(placed_.id->raw()->send_cq, nullptr);

  EXPECT_EQ(errno_of(placed_.id->destroy_qp()), 0);
  EXPECT_EQ(provider_.live.cqs, 1u);
  EXPECT_TRUE(provider_.destroy_cq(cq));
}

TEST_F(IdQp, TakesTheApplicationsDomain) {
  ibv_pd* pd = provider_.alloc_pd(provider_.context()).value();

  EXPECT_EQ(errno_of(placed_.id->create_qp(pd, &attributes_)), 0);

  EXPECT_EQ(placed_.id->qp()->pd, pd);
  EXPECT_EQ(placed_.id->raw()->pd, pd);
  EXPECT_TRUE(placed_.id->destroy_qp());
  EXPECT_TRUE(provider_.dealloc_pd(pd));
}

TEST_F(IdQp, ADomainOfAnotherDeviceIsRefused) {
  ibv_context elsewhere{};
  ibv_pd pd{};
  pd.context = &elsewhere;

  EXPECT_EQ(errno_of(placed_.id->create_qp(&pd, &attributes_)), EINVAL);
}

TEST_F(IdQp, NullASecondQpAndAnUnboundIdAreRefused) {
  Placed unbound = make_id();
  unbound.endpoint->bound = {};
  EXPECT_TRUE(unbound.id->bind(raw(here_)));

  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(errno_of(unbound.id->create_qp(nullptr, &attributes_)), EINVAL);
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), 0);
  ibv_qp_init_attr again = qp_attributes();
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &again)), EINVAL);
  EXPECT_TRUE(placed_.id->destroy_qp());
}

TEST_F(IdQp, QueuesThatContradictTheIdsOwnAreRefused) {
  ibv_cq own{};
  ibv_cq other{};
  placed_.id->raw()->send_cq = &own;
  attributes_.send_cq = &other;

  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), EINVAL);
}

TEST_F(IdQp, NoQueueIsMadeForNoWork) {
  attributes_.cap.max_recv_wr = 0;

  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), EINVAL);
  EXPECT_EQ(provider_.live.cqs, 0u);
}

TEST_F(IdQp, WhatTheDeviceRefusesLeavesNothingBehind) {
  const verbs::testing::FakeProvider::Live before = provider_.live;

  provider_.create_cq_error = ENOMEM;
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), ENOMEM);
  EXPECT_EQ(provider_.live, before);

  provider_.create_cq_error = 0;
  provider_.create_qp_error = EINVAL;
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), EINVAL);
  EXPECT_EQ(provider_.live, before);

  provider_.create_qp_error = 0;
  provider_.refused_state = IBV_QPS_INIT;
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), EINVAL);
  EXPECT_EQ(provider_.live, before);
  EXPECT_EQ(placed_.id->qp(), nullptr);
  EXPECT_EQ(attributes_.send_cq, nullptr) << "the caller's struct is untouched";
}

TEST_F(IdQp, ADeadRequestIsFoundOutWhenTheQpIsMade) {
  Placed listening = listener();
  Placed child = incoming(listening);
  ON_CALL(*child.endpoint, qp_transition)
      .WillByDefault(Return(Result<transport::QpTransition>(errno_code(EINVAL))));

  EXPECT_EQ(errno_of(child.id->create_qp(nullptr, &attributes_)), EINVAL);
  EXPECT_EQ(provider_.live.qps, 0u);
}

TEST_F(IdQp, DestroyingNoQpIsRefused) {
  EXPECT_EQ(errno_of(placed_.id->destroy_qp()), EINVAL);
}

TEST_F(IdQp, CanBeDestroyedAfterTheDeviceWasRemoved) {
  EXPECT_EQ(errno_of(placed_.id->create_qp(nullptr, &attributes_)), 0);
  deliver(placed_, RDMA_CM_EVENT_DEVICE_REMOVAL);

  EXPECT_EQ(errno_of(placed_.id->destroy_qp()), 0);
}

TEST_F(IdQp, InitQpAttrSaysWhatTheTransportSays) {
  auto step = placed_.id->init_qp_attr(IBV_QPS_RTR);

  ASSERT_TRUE(step);
  EXPECT_EQ(step->attr.qp_state, IBV_QPS_RTR);
  EXPECT_EQ(errno_of(placed_.id->init_qp_attr(IBV_QPS_UNKNOWN)), EINVAL);
}

}  // namespace
}  // namespace anyrdma::cm::testing
