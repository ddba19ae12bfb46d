#include "cm/c_api/request_pace.h"

#include <gtest/gtest.h>

namespace anyrdma::c_api {
namespace {

TEST(RequestPace, DoesNotWaitWithoutARequest) {
  EXPECT_TRUE(RequestPace::wait());
}

TEST(RequestPace, GoesOnWhenTheRequestWasTaken) {
  const rdma_cm_id id{};
  RequestPace::handed_out(&id);
  RequestPace::taken(&id);

  EXPECT_TRUE(RequestPace::wait());
}

TEST(RequestPace, GivesUpOnARequestThatNobodyTakes) {
  const rdma_cm_id id{};
  const rdma_cm_id other{};
  RequestPace::handed_out(&id);
  RequestPace::taken(&other);

  EXPECT_FALSE(RequestPace::wait());
  EXPECT_TRUE(RequestPace::wait());
}

}  // namespace
}  // namespace anyrdma::c_api
