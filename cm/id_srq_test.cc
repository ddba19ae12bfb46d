// The id's shared receive queue.
#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

class IdSrq : public CmTest {
 protected:
  ibv_srq_init_attr attributes_{nullptr, {16, 1, 0}};
};

TEST_F(IdSrq, BelongsToTheIdUntilItIsDestroyed) {
  Placed placed = place(Place::kAddrResolved);

  EXPECT_EQ(errno_of(placed.id->create_srq(nullptr, &attributes_)), 0);
  ASSERT_NE(placed.id->raw()->srq, nullptr);
  EXPECT_EQ(placed.id->raw()->srq->pd, placed.id->raw()->pd);

  EXPECT_EQ(errno_of(placed.id->destroy_srq()), 0);
  EXPECT_EQ(placed.id->raw()->srq, nullptr);
  EXPECT_EQ(provider_.live.srqs, 0u);
}

TEST_F(IdSrq, LaterQueuePairsReceiveFromIt) {
  Placed placed = place(Place::kAddrResolved);
  EXPECT_TRUE(placed.id->create_srq(nullptr, &attributes_));
  ibv_qp_init_attr attributes = qp_attributes();

  EXPECT_EQ(errno_of(placed.id->create_qp(nullptr, &attributes)), 0);

  EXPECT_EQ(attributes.srq, placed.id->raw()->srq);
  EXPECT_TRUE(placed.id->destroy_qp());
  EXPECT_TRUE(placed.id->destroy_srq());
}

TEST_F(IdSrq, NeedsADevice) {
  Placed placed = make_id();

  EXPECT_EQ(errno_of(placed.id->create_srq(nullptr, &attributes_)), EINVAL);
}

TEST_F(IdSrq, NullAndForeignArgumentsAreRefused) {
  Placed placed = place(Place::kAddrResolved);
  ibv_context elsewhere{};
  ibv_pd foreign{&elsewhere, 0};

  EXPECT_EQ(errno_of(placed.id->create_srq(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->create_srq(&foreign, &attributes_)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->destroy_srq()), EINVAL) << "there is none";
}

TEST_F(IdSrq, WhatTheDeviceRefusesIsReported) {
  Placed placed = place(Place::kAddrResolved);
  provider_.create_srq_error = ENOMEM;

  EXPECT_EQ(errno_of(placed.id->create_srq(nullptr, &attributes_)), ENOMEM);

  EXPECT_EQ(placed.id->raw()->srq, nullptr);
}

TEST_F(IdSrq, IsNotForExtendedReliableConnections) {
  Placed placed;
  placed.id = Id::create_synchronous(transport_, RDMA_PS_TCP, nullptr, IBV_QPT_XRC_RECV).value();
  EXPECT_TRUE(placed.id->bind(raw(here_)));

  EXPECT_EQ(errno_of(placed.id->create_srq(nullptr, &attributes_)), EOPNOTSUPP);
}

}  // namespace
}  // namespace anyrdma::cm::testing
