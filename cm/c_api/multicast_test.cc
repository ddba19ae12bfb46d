// Multicast as a C program uses it: what the door adds to cm.
#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

using ::testing::_;
using ::testing::Return;
using transport::JoinState;

class MulticastDoor : public testing::CmDoor {
 protected:
  MulticastDoor() {
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_UDP), 0);
    EXPECT_EQ(rdma_bind_addr(id, there()), 0);
    extended.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    extended.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
    extended.addr = group();
  }
  ~MulticastDoor() override { destroy(id); }
  sockaddr* group() { return reinterpret_cast<sockaddr*>(&group_); }

  rdma_cm_id* id = nullptr;
  rdma_cm_join_mc_attr_ex extended{};

 private:
  sockaddr_in group_ = anyrdma::transport::testing::ipv4(0xe0000001, 0);
};

TEST_F(MulticastDoor, JoinIsAFullMembersAndLeaveEndsIt) {
  EXPECT_CALL(transport.last(), join_multicast(_, _, JoinState::kFullMember));

  EXPECT_EQ(rdma_join_multicast(id, group(), this), 0);
  EXPECT_EQ(rdma_leave_multicast(id, group()), 0);
  EXPECT_EQ(rdma_leave_multicast(id, group()), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
}

TEST_F(MulticastDoor, ExtendedJoinSaysHowItBelongs) {
  EXPECT_CALL(transport.last(), join_multicast(_, _, JoinState::kSendOnlyFullMember));

  EXPECT_EQ(rdma_join_multicast_ex(id, &extended, this), 0);
}

TEST_F(MulticastDoor, FieldsOfTheFutureAreEnotsup) {
  extended.comp_mask |= RDMA_CM_JOIN_MC_ATTR_RESERVED;

  EXPECT_EQ(rdma_join_multicast_ex(id, &extended, this), -1);

  EXPECT_EQ(errno, ENOTSUP);
}

TEST_F(MulticastDoor, MissingFieldsAndUnknownFlagsAreEinval) {
  for (const unsigned mask :
       {0u, unsigned{RDMA_CM_JOIN_MC_ATTR_ADDRESS}, unsigned{RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS}}) {
    extended.comp_mask = mask;
    errno = 0;
    EXPECT_EQ(rdma_join_multicast_ex(id, &extended, this), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  extended.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  extended.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
  errno = 0;
  EXPECT_EQ(rdma_join_multicast_ex(id, &extended, this), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(MulticastDoor, NullArgumentsAreEinval) {
  extended.addr = nullptr;
  EXPECT_EQ(rdma_join_multicast_ex(id, &extended, this), -1);
  EXPECT_EQ(rdma_join_multicast_ex(id, nullptr, this), -1);
  EXPECT_EQ(rdma_join_multicast_ex(nullptr, &extended, this), -1);
  EXPECT_EQ(rdma_join_multicast(id, nullptr, this), -1);
  EXPECT_EQ(rdma_join_multicast(nullptr, group(), this), -1);
  EXPECT_EQ(rdma_leave_multicast(id, nullptr), -1);
  EXPECT_EQ(rdma_leave_multicast(nullptr, group()), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(MulticastDoor, WhatTheTransportRefusesBecomesErrno) {
  EXPECT_CALL(transport.last(), join_multicast).WillOnce(Return(verbs::errno_code(ENOMEM)));

  EXPECT_EQ(rdma_join_multicast(id, group(), this), -1);

  EXPECT_EQ(errno, ENOMEM);
}

}  // namespace
}  // namespace anyrdma::c_api
