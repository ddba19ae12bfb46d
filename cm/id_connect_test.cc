// The active side: connect, what a fetched response does, disconnect, notify, establish.
#include <array>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::AllOf;
using ::testing::Field;

class IdConnect : public CmTest {
 protected:
  /// An id in ROUTE_RESOLVED with a QP.
  Placed with_qp() {
    Placed placed = place(Place::kRouteResolved);
    ibv_qp_init_attr attributes = qp_attributes();
    EXPECT_TRUE(placed.id->create_qp(nullptr, &attributes));
    provider_.moves.clear();
    return placed;
  }
  Placed connecting() {
    Placed placed = with_qp();
    EXPECT_TRUE(placed.id->connect(nullptr));
    return placed;
  }
  void respond(Placed& placed) {
    static const std::array<std::uint8_t, 196> said{7};
    rdma_conn_param conn{};
    conn.responder_resources = 2;
    conn.initiator_depth = 1;
    transport_.raise(
        *placed.endpoint,
        {.type = RDMA_CM_EVENT_CONNECT_RESPONSE, .status = 0, .conn = conn, .private_data = said});
  }
  void clean_up(Placed& placed) { EXPECT_TRUE(placed.id->destroy_qp()); }

  const std::vector<std::uint8_t> seven_{7};
};

TEST_F(IdConnect, NullAsksForTheDevicesMaximaAndNamesTheQp) {
  Placed placed = with_qp();
  EXPECT_CALL(*placed.endpoint,
              connect(AllOf(Field(&ConnectionParameters::responder_resources, 16),
                            Field(&ConnectionParameters::initiator_depth, 8),
                            Field(&ConnectionParameters::qp_type, IBV_QPT_RC),
                            Field(&ConnectionParameters::qp_num, placed.id->qp()->qp_num))));

  EXPECT_TRUE(placed.id->connect(nullptr));
  clean_up(placed);
}

TEST_F(IdConnect, WithoutAQpTheApplicationNamesIt) {
  Placed placed = place(Place::kRouteResolved);
  rdma_conn_param param{};
  param.qp_num = 0x123;
  param.srq = 1;
  EXPECT_CALL(*placed.endpoint, connect(AllOf(Field(&ConnectionParameters::qp_num, 0x123u),
                                              Field(&ConnectionParameters::srq, 1))));

  EXPECT_EQ(errno_of(placed.id->connect(nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0);
}

TEST_F(IdConnect, DepthsAboveTheDevicesAreRefusedAndMayBeCorrected) {
  Placed placed = with_qp();
  rdma_conn_param param{};
  param.responder_resources = 17;
  EXPECT_CALL(*placed.endpoint, connect).Times(1);

  EXPECT_EQ(errno_of(placed.id->connect(&param)), EINVAL);
  param.responder_resources = RDMA_MAX_RESP_RES;
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0);
  clean_up(placed);
}

TEST_F(IdConnect, FiftySevenBytesAreTooManyAndFiftySixConnect) {
  Placed placed = with_qp();
  EXPECT_CALL(*placed.endpoint, connect).WillRepeatedly([](const ConnectionParameters& p) {
    return p.private_data.size() > 56 ? Result<void>(errno_code(EINVAL)) : Result<void>();
  });
  const std::array<std::uint8_t, 57> data{};
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = 57;

  EXPECT_EQ(errno_of(placed.id->connect(&param)), EINVAL);
  param.private_data_len = 56;
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0);
  clean_up(placed);
}

TEST_F(IdConnect, BeforeTheAddressWasFetchedThereIsNoDeviceToConnectWith) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  const std::array<std::uint8_t, sizeof(ibv_path_data)> path{};
  EXPECT_TRUE(placed.id->set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path));
  const rdma_conn_param param{};

  EXPECT_EQ(errno_of(placed.id->connect(&param)), EINVAL);
}

TEST_F(IdConnect, FetchingTheResponseBringsTheQpUpAndCompletesTheHandshake) {
  Placed placed = connecting();
  respond(placed);
  EXPECT_TRUE(provider_.moves.empty()) << "nothing happens before the application fetches";
  EXPECT_CALL(*placed.endpoint, establish());

  Event event = next();

  EXPECT_THAT(event, AllOf(EventIs(RDMA_CM_EVENT_ESTABLISHED), HasStatus(0), HasDepths(2, 1),
                           HasPrivateData(seven_, 196)));
  EXPECT_THAT(provider_.states_moved_to(), ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS));
  clean_up(placed);
}

TEST_F(IdConnect, WithoutAQpTheResponseStaysAResponseUntilEstablish) {
  Placed placed = place(Place::kConnect);
  respond(placed);
  EXPECT_CALL(*placed.endpoint, establish()).Times(0);
  EXPECT_THAT(next(), AllOf(EventIs(RDMA_CM_EVENT_CONNECT_RESPONSE), HasDepths(2, 1),
                            HasPrivateData(seven_, 196)));
  ::testing::Mock::VerifyAndClearExpectations(placed.endpoint);

  EXPECT_CALL(*placed.endpoint, establish());
  EXPECT_EQ(errno_of(placed.id->establish()), 0);
}

TEST_F(IdConnect, EstablishIsNotForIdsWithAQp) {
  Placed placed = connecting();
  EXPECT_CALL(*placed.endpoint, establish()).Times(0);

  EXPECT_EQ(errno_of(placed.id->establish()), EINVAL);
  clean_up(placed);
}

TEST_F(IdConnect, AQpThatCannotMoveTurnsTheResponseIntoConnectError) {
  Placed placed = connecting();
  respond(placed);
  provider_.refused_state = IBV_QPS_RTR;
  EXPECT_CALL(*placed.endpoint, establish()).Times(0);

  EXPECT_THAT(next(), AllOf(EventIs(RDMA_CM_EVENT_CONNECT_ERROR), HasStatus(-1)));

  EXPECT_THAT(provider_.states_moved_to(), ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_ERR));
  clean_up(placed);
}

TEST_F(IdConnect, AHandshakeThatCannotBeCompletedTurnsIntoConnectError) {
  Placed placed = connecting();
  respond(placed);
  EXPECT_CALL(*placed.endpoint, establish()).WillOnce(Return(errno_code(EINVAL)));

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_ERROR));

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_ERR);
  clean_up(placed);
}

TEST_F(IdConnect, AfterConnectErrorNeitherRejectedNorDisconnectedIsSeen) {
  Placed placed = connecting();
  respond(placed);
  provider_.refused_state = IBV_QPS_RTS;
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_ERROR));

  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_REJECTED, 28);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_TRUE(channel_is_empty());
  EXPECT_EQ(placed.id->ledger().fetched, placed.id->ledger().acknowledged);

  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_TIMEWAIT_EXIT));
  clean_up(placed);
}

TEST_F(IdConnect, ABlockingFetchPassesOverSwallowedEvents) {
  Placed placed = connecting();
  respond(placed);
  provider_.refused_state = IBV_QPS_RTS;
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_ERROR));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_REJECTED, 28);

  EXPECT_EQ(errno_of(channel_->get()), EDEADLK);
  clean_up(placed);
}

TEST_F(IdConnect, FetchingRejectedFlushesTheQp) {
  Placed placed = connecting();
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_REJECTED, 28);
  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_INIT);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_REJECTED));

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_ERR);
  clean_up(placed);
}

TEST_F(IdConnect, DisconnectFlushesTheQpFirst) {
  Placed placed = connecting();
  EXPECT_CALL(*placed.endpoint, disconnect()).WillOnce([&] {
    EXPECT_EQ(placed.id->qp()->state, IBV_QPS_ERR);
    return Result<void>();
  });

  EXPECT_EQ(errno_of(placed.id->disconnect()), 0);

  clean_up(placed);
}

TEST_F(IdConnect, AQpThatCannotBeFlushedKeepsTheConnection) {
  Placed placed = connecting();
  provider_.refused_state = IBV_QPS_ERR;
  EXPECT_CALL(*placed.endpoint, disconnect()).Times(0);

  EXPECT_EQ(errno_of(placed.id->disconnect()), EINVAL);
  clean_up(placed);
}

TEST_F(IdConnect, DisconnectedDoesNotTouchTheQp) {
  Placed placed = connecting();
  deliver(placed, RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_INIT);
  EXPECT_EQ(errno_of(placed.id->disconnect()), 0) << "sends the DREP that is due";
  clean_up(placed);
}

TEST_F(IdConnect, NotifyPassesOnThatTheConnectionStandsAlready) {
  Placed placed = place(Place::kConnect);
  EXPECT_CALL(*placed.endpoint, notify(IBV_EVENT_COMM_EST)).WillOnce(Return(errno_code(EISCONN)));

  EXPECT_EQ(errno_of(placed.id->notify(IBV_EVENT_COMM_EST)), EISCONN);
}

TEST_F(IdConnect, WhatTheEndpointDoesNotAdmitIsNotTried) {
  Placed placed = connecting();
  ON_CALL(*placed.endpoint, admits).WillByDefault(Return(Result<void>(errno_code(ENXIO))));
  EXPECT_CALL(*placed.endpoint, disconnect()).Times(0);

  EXPECT_EQ(errno_of(placed.id->disconnect()), ENXIO);
  clean_up(placed);
}

}  // namespace
}  // namespace anyrdma::cm::testing
