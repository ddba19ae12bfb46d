#include "cm/conn_param.h"

#include <gtest/gtest.h>

#include <array>

#include "verbs/testing/errno_of.h"

namespace anyrdma::cm {
namespace {

using verbs::testing::errno_of;

constexpr Depths kDevice{16, 8};
constexpr Depths kRequested{4, 12};

rdma_conn_param with_depths(std::uint8_t responder_resources, std::uint8_t initiator_depth) {
  rdma_conn_param param{};
  param.responder_resources = responder_resources;
  param.initiator_depth = initiator_depth;
  return param;
}

TEST(ConnParam, NullNeedsAQpInTheTcpPortSpaceOnly) {
  EXPECT_EQ(errno_of(check_conn_param(nullptr, RDMA_PS_TCP, false, kDevice)), EINVAL);
  EXPECT_EQ(errno_of(check_conn_param(nullptr, RDMA_PS_TCP, true, kDevice)), 0);
  EXPECT_EQ(errno_of(check_conn_param(nullptr, RDMA_PS_UDP, false, kDevice)), 0);
}

TEST(ConnParam, DepthsAboveTheDevicesAreRefused) {
  const rdma_conn_param responder = with_depths(17, 8);
  const rdma_conn_param initiator = with_depths(16, 9);
  const rdma_conn_param both = with_depths(16, 8);

  EXPECT_EQ(errno_of(check_conn_param(&responder, RDMA_PS_TCP, true, kDevice)), EINVAL);
  EXPECT_EQ(errno_of(check_conn_param(&initiator, RDMA_PS_TCP, true, kDevice)), EINVAL);
  EXPECT_EQ(errno_of(check_conn_param(&both, RDMA_PS_TCP, true, kDevice)), 0);
}

TEST(ConnParam, TheConstantForTheMaximumIsNoDepth) {
  const rdma_conn_param param = with_depths(RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);

  EXPECT_EQ(errno_of(check_conn_param(&param, RDMA_PS_TCP, true, kDevice)), 0);
}

TEST(ConnParam, OnlyTheTcpPortSpaceChecksDepths) {
  const rdma_conn_param param = with_depths(100, 100);

  EXPECT_EQ(errno_of(check_conn_param(&param, RDMA_PS_IB, true, kDevice)), 0);
}

TEST(ConnParam, ConnectingWithNullAsksForTheDevicesMaxima) {
  const auto result = parameters_for_connect(nullptr, kDevice);

  EXPECT_EQ(result.responder_resources, 16);
  EXPECT_EQ(result.initiator_depth, 8);
  EXPECT_EQ(result.retry_count, 7);
  EXPECT_EQ(result.rnr_retry_count, 7);
  EXPECT_EQ(result.flow_control, 0);
}

TEST(ConnParam, ConnectingTakesTheApplicationsNumbers) {
  rdma_conn_param param = with_depths(3, RDMA_MAX_INIT_DEPTH);
  param.retry_count = 9;
  param.rnr_retry_count = 200;
  param.flow_control = 1;
  param.srq = 1;
  param.qp_num = 0xff123456;
  const auto result = parameters_for_connect(&param, kDevice);

  EXPECT_EQ(result.responder_resources, 3);
  EXPECT_EQ(result.initiator_depth, 8);
  EXPECT_EQ(result.retry_count, 7);
  EXPECT_EQ(result.rnr_retry_count, 7);
  EXPECT_EQ(result.flow_control, 1);
  EXPECT_EQ(result.srq, 1);
  EXPECT_EQ(result.qp_num, 0x123456u);
}

TEST(ConnParam, AcceptingWithNullEchoesTheRequestWithinTheDevicesLimits) {
  const auto result = parameters_for_accept(nullptr, kDevice, kRequested);

  EXPECT_EQ(result.responder_resources, 4);
  EXPECT_EQ(result.initiator_depth, 8);
  EXPECT_EQ(result.rnr_retry_count, 7);
}

TEST(ConnParam, AcceptingTakesTheApplicationsNumbers) {
  const rdma_conn_param param = with_depths(1, 2);
  const auto result = parameters_for_accept(&param, kDevice, kRequested);

  EXPECT_EQ(result.responder_resources, 1);
  EXPECT_EQ(result.initiator_depth, 2);
}

TEST(ConnParam, PrivateDataIsPassedOnWhenThereIsAPointer) {
  const std::array<std::uint8_t, 3> data{1, 2, 3};
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = 3;
  rdma_conn_param dangling{};
  dangling.private_data_len = 3;

  EXPECT_EQ(parameters_for_connect(&param, kDevice).private_data.data(), data.data());
  EXPECT_EQ(parameters_for_connect(&param, kDevice).private_data.size(), 3u);
  EXPECT_TRUE(parameters_for_connect(&dangling, kDevice).private_data.empty());
}

}  // namespace
}  // namespace anyrdma::cm
