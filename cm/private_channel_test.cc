// What a blocking call makes of an event.
#include "cm/private_channel.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "verbs/testing/errno_of.h"

namespace anyrdma::cm {
namespace {

using verbs::testing::errno_of;

rdma_cm_event event(rdma_cm_event_type type, int status) {
  rdma_cm_event made{};
  made.event = type;
  made.status = status;
  return made;
}

TEST(ResultOfAnEvent, IsSuccessWhateverItsTypeWhenTheStatusIsZero) {
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_ESTABLISHED, 0))), 0);
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_ADDR_ERROR, 0))), 0);
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_REJECTED, 0))), 0);
}

TEST(ResultOfAnEvent, IsEconnrefusedForRejectionsOfAnyReason) {
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_REJECTED, 28))), ECONNREFUSED);
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_REJECTED, -ECONNRESET))), ECONNREFUSED);
}

TEST(ResultOfAnEvent, IsItsStatusWithoutTheSignOtherwise) {
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT))), ETIMEDOUT);
  EXPECT_EQ(errno_of(result_of(event(RDMA_CM_EVENT_UNREACHABLE, 2))), 2);
}

}  // namespace
}  // namespace anyrdma::cm
