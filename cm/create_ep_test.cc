// rdma_create_ep and rdma_destroy_ep: the steps, their order, and what a failure leaves (nothing).
#include "cm/create_ep.h"

#include <algorithm>
#include <array>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::SizeIs;
using verbs::testing::FakeProvider;

class CreateEp : public CmTest {
 protected:
  CreateEp() {
    info_.ai_port_space = RDMA_PS_TCP;
    info_.ai_qp_type = IBV_QPT_RC;
    info_.ai_dst_addr = reinterpret_cast<sockaddr*>(&there_);
    info_.ai_dst_len = sizeof there_;
    passive_.ai_flags = RAI_PASSIVE;
    passive_.ai_port_space = RDMA_PS_TCP;
    passive_.ai_qp_type = IBV_QPT_RC;
    passive_.ai_src_addr = reinterpret_cast<sockaddr*>(&here_);
    passive_.ai_src_len = sizeof here_;
  }
  /// Each blocking call finds the next of these events.
  void answer_with(std::vector<std::pair<rdma_cm_event_type, int>> events) {
    runtime_.when_blocked = [this, events = std::move(events), at = 0u]() mutable {
      if (at == events.size()) return;
      const auto [type, status] = events[at++];
      transport_.raise(transport_.last(), type, status);
    };
  }
  void answer_well() {
    answer_with({{RDMA_CM_EVENT_ADDR_RESOLVED, 0}, {RDMA_CM_EVENT_ROUTE_RESOLVED, 0}});
  }
  std::unique_ptr<Id> active() {
    answer_well();
    return create_ep(transport_, info_, nullptr, &attributes_).value();
  }
  void expect_nothing_left() { EXPECT_EQ(provider_.live, FakeProvider::Live{}); }

  rdma_addrinfo info_{};
  rdma_addrinfo passive_{};
  ibv_qp_init_attr attributes_ = qp_attributes();
};

// --- active -------------------------------------------------------------------------------------

TEST_F(CreateEp, ActiveResolvesAddressAndRouteAndMakesTheQueuePair) {
  attributes_.qp_type = IBV_QPT_UD;

  std::unique_ptr<Id> id = active();

  EXPECT_TRUE(id->is_synchronous());
  EXPECT_EQ(id->context(), nullptr);
  ASSERT_NE(id->qp(), nullptr);
  EXPECT_EQ(attributes_.qp_type, IBV_QPT_RC) << "ai_qp_type wins";
  EXPECT_EQ(errno_of(destroy_ep(std::move(id))), 0);
  expect_nothing_left();
}

TEST_F(CreateEp, WithoutAttributesThereIsNoQueuePair) {
  answer_well();

  std::unique_ptr<Id> id = create_ep(transport_, info_, nullptr, nullptr).value();

  EXPECT_EQ(id->qp(), nullptr);
}

TEST_F(CreateEp, TheQueuePairTypeOfTheInfoDecidesWhatTheEndpointSpeaks) {
  info_.ai_port_space = RDMA_PS_IB;
  info_.ai_qp_type = IBV_QPT_UD;
  EXPECT_CALL(transport_, create_endpoint(RDMA_PS_IB, IBV_QPT_UD, _));

  std::unique_ptr<Id> id = active();

  EXPECT_THAT(provider_.states_moved_to(), ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS));
  EXPECT_EQ(errno_of(destroy_ep(std::move(id))), 0);
}

TEST_F(CreateEp, AGivenRouteIsTakenAndNotAskedFor) {
  std::array<std::uint8_t, sizeof(ibv_path_data)> route{};
  info_.ai_route = route.data();
  info_.ai_route_len = route.size();
  runtime_.when_blocked = [&, waits = 0]() mutable {
    if (++waits == 2) return transport_.raise(transport_.last(), RDMA_CM_EVENT_ROUTE_RESOLVED);
    EXPECT_CALL(transport_.last(), resolve_route).Times(0);
    EXPECT_CALL(transport_.last(),
                set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, SizeIs(route.size())));
    transport_.raise(transport_.last(), RDMA_CM_EVENT_ADDR_RESOLVED);
  };

  std::unique_ptr<Id> id = create_ep(transport_, info_, nullptr, nullptr).value();

  EXPECT_EQ(id->raw()->event->event, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

TEST_F(CreateEp, AFailedResolutionLeavesNothing) {
  answer_with({{RDMA_CM_EVENT_ADDR_ERROR, -ENODEV}});
  EXPECT_EQ(errno_of(create_ep(transport_, info_, nullptr, &attributes_)), ENODEV);

  answer_with({{RDMA_CM_EVENT_ADDR_RESOLVED, 0}, {RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT}});
  EXPECT_EQ(errno_of(create_ep(transport_, info_, nullptr, &attributes_)), ETIMEDOUT);

  expect_nothing_left();
}

TEST_F(CreateEp, AQueuePairThatCannotBeMadeLeavesNothing) {
  answer_well();
  provider_.create_qp_error = ENOMEM;

  EXPECT_EQ(errno_of(create_ep(transport_, info_, nullptr, &attributes_)), ENOMEM);

  expect_nothing_left();
}

TEST_F(CreateEp, WithoutDestinationOrDeviceThereIsNoEndpoint) {
  info_.ai_dst_addr = nullptr;
  EXPECT_EQ(errno_of(create_ep(transport_, info_, nullptr, nullptr)), EINVAL);

  NiceMock<MockTransport> bare(runtime_, provider_);
  bare.remove_devices();
  EXPECT_EQ(errno_of(create_ep(bare, info_, nullptr, nullptr)), ENODEV);
}

TEST_F(CreateEp, ConnectBytesStandBeforeThePrivateDataUntilConnectSucceeds) {
  std::array<std::uint8_t, 2> prefix{1, 2};
  const std::array<std::uint8_t, 1> data{3};
  info_.ai_connect = prefix.data();
  info_.ai_connect_len = prefix.size();
  std::unique_ptr<Id> id = active();
  const std::vector<std::uint8_t> together{1, 2, 3};
  std::vector<std::vector<std::uint8_t>> sent;
  EXPECT_CALL(transport_.last(), connect)
      .Times(2)
      .WillRepeatedly([&](const ConnectionParameters& parameters) -> Result<void> {
        sent.emplace_back(parameters.private_data.begin(), parameters.private_data.end());
        if (sent.size() == 1) return errno_code(EINVAL);
        return {};
      });
  answer_with({{RDMA_CM_EVENT_CONNECT_RESPONSE, 0}});
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();

  EXPECT_EQ(errno_of(id->connect(&param)), EINVAL);
  EXPECT_EQ(errno_of(id->connect(&param)), 0);

  EXPECT_THAT(sent, ElementsAre(together, together));
  EXPECT_EQ(errno_of(destroy_ep(std::move(id))), 0);
}

TEST_F(CreateEp, MoreThanALengthByteOfPrivateDataIsRefused) {
  std::array<std::uint8_t, 200> prefix{};
  std::array<std::uint8_t, 56> data{};
  info_.ai_connect = prefix.data();
  info_.ai_connect_len = prefix.size();
  std::unique_ptr<Id> id = active();
  EXPECT_CALL(transport_.last(), connect).Times(0);
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();

  EXPECT_EQ(errno_of(id->connect(&param)), EINVAL);

  EXPECT_EQ(errno_of(destroy_ep(std::move(id))), 0);
}

// --- passive ------------------------------------------------------------------------------------

TEST_F(CreateEp, PassiveIsBoundAndDoesNotListenYet) {
  std::unique_ptr<Id> id = create_ep(transport_, passive_, nullptr, nullptr).value();

  EXPECT_EQ(runtime_.blocked, 0u);
}

TEST_F(CreateEp, RequestsComeWithAQueuePairOnTheListenersDomain) {
  ibv_pd* pd = provider_.alloc_pd(provider_.context()).value();
  attributes_.qp_type = IBV_QPT_UD;
  std::unique_ptr<Id> listening = create_ep(transport_, passive_, pd, &attributes_).value();
  EXPECT_TRUE(listening->listen(1));
  transport_.request(transport_.last());

  std::unique_ptr<Id> child = listening->get_request().value();

  ASSERT_NE(child->qp(), nullptr);
  EXPECT_EQ(child->qp()->pd, pd);
  EXPECT_EQ(child->qp()->qp_type, IBV_QPT_RC);
  EXPECT_EQ(attributes_.qp_type, IBV_QPT_UD) << "the program's own attributes stay";
  EXPECT_EQ(errno_of(destroy_ep(std::move(child))), 0);
  EXPECT_EQ(errno_of(destroy_ep(std::move(listening))), 0);
  EXPECT_EQ(errno_of(provider_.dealloc_pd(pd)), 0);
}

TEST_F(CreateEp, ARequestWhoseQueuePairCannotBeMadeStaysWithTheListener) {
  std::unique_ptr<Id> listening = create_ep(transport_, passive_, nullptr, &attributes_).value();
  EXPECT_TRUE(listening->listen(1));
  MockEndpoint* child = transport_.request(transport_.last());
  provider_.create_qp_error = ENOMEM;

  EXPECT_EQ(errno_of(listening->get_request()), ENOMEM);
  EXPECT_EQ(listening->raw()->event->event, RDMA_CM_EVENT_CONNECT_REQUEST);

  EXPECT_CALL(*child, destroyed());
  EXPECT_EQ(errno_of(destroy_ep(std::move(listening))), 0);
}

TEST_F(CreateEp, AnAddressThatCannotBeBoundLeavesNothing) {
  passive_.ai_src_addr = nullptr;

  EXPECT_EQ(errno_of(create_ep(transport_, passive_, nullptr, &attributes_)), EINVAL);

  expect_nothing_left();
}

TEST_F(CreateEp, DestructionTakesQueuePairAndSharedReceiveQueueAlong) {
  std::unique_ptr<Id> id = active();
  ibv_srq_init_attr attributes{nullptr, {16, 1, 0}};
  EXPECT_TRUE(id->create_srq(nullptr, &attributes));

  EXPECT_EQ(errno_of(destroy_ep(std::move(id))), 0);

  expect_nothing_left();
  EXPECT_EQ(errno_of(destroy_ep(nullptr)), EINVAL);
}

}  // namespace
}  // namespace anyrdma::cm::testing
