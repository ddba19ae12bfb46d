// Ids of datagram services (K/cma.c:cma_resolve_ib_udp): their QPs, and connect, accept and reject
// over SIDR.
#include <array>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::Field;

constexpr std::size_t kSidrReqBytes = 180;
constexpr std::size_t kSidrRepBytes = 136;

class Datagram : public CmTest {
 protected:
  static ibv_qp_init_attr ud_attributes() {
    ibv_qp_init_attr attributes = qp_attributes();
    attributes.qp_type = IBV_QPT_UD;
    return attributes;
  }
  void create_qp(Placed& placed) {
    ibv_qp_init_attr attributes = ud_attributes();
    EXPECT_EQ(errno_of(placed.id->create_qp(nullptr, &attributes)), 0);
  }
  Placed routed() {
    Placed placed = make_id(RDMA_PS_UDP);
    EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
    deliver(placed, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_TRUE(placed.id->resolve_route(kTimeout));
    deliver(placed, RDMA_CM_EVENT_ROUTE_RESOLVED);
    return placed;
  }
  Placed asking() {
    Placed placed = routed();
    EXPECT_EQ(errno_of(placed.id->connect(nullptr)), 0);
    return placed;
  }
  Placed asked() {
    listening_ = make_id(RDMA_PS_UDP);
    EXPECT_TRUE(listening_.id->bind(raw(here_)));
    EXPECT_TRUE(listening_.id->listen(10));
    const rdma_ud_param ud{};
    Placed child;
    child.endpoint = transport_.request(
        *listening_.endpoint,
        {.type = RDMA_CM_EVENT_CONNECT_REQUEST, .private_data = question_, .ud = &ud});
    child.id = next().take_request();
    return child;
  }

  std::array<std::uint8_t, kSidrReqBytes> question_{4, 2};
  std::array<std::uint8_t, kSidrRepBytes> answer_{7};
  Placed listening_;
};

TEST_F(Datagram, AQueuePairIsReadyToSendAtOnce) {
  Placed placed = routed();

  create_qp(placed);

  EXPECT_THAT(provider_.states_moved_to(), ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS));
  EXPECT_TRUE(placed.id->destroy_qp());
}

TEST_F(Datagram, AQueuePairThatCannotBeStartedIsNotLeftBehind) {
  Placed placed = routed();
  for (const ibv_qp_state refused : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    provider_.refused_state = refused;
    ibv_qp_init_attr attributes = ud_attributes();

    EXPECT_EQ(errno_of(placed.id->create_qp(nullptr, &attributes)), EINVAL);

    EXPECT_EQ(provider_.live.qps, 0u);
    EXPECT_EQ(provider_.live.cqs, 0u);
  }
}

TEST_F(Datagram, ConnectingNeedsNeitherQueuePairNorParameters) {
  Placed placed = routed();
  EXPECT_CALL(*placed.endpoint, connect(Field(&ConnectionParameters::qp_type, IBV_QPT_UD)));

  EXPECT_EQ(errno_of(placed.id->connect(nullptr)), 0);
}

TEST_F(Datagram, TheAnswerNamesThePeersQueuePair) {
  Placed placed = asking();
  rdma_ud_param ud{};
  ud.qp_num = 0x55;
  ud.qkey = RDMA_UDP_QKEY;
  ud.ah_attr.is_global = 1;
  transport_.raise(*placed.endpoint,
                   {.type = RDMA_CM_EVENT_ESTABLISHED, .private_data = answer_, .ud = &ud});

  const Event event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_ESTABLISHED));
  EXPECT_EQ(event.ud().qp_num, 0x55u);
  EXPECT_EQ(event.ud().qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
  EXPECT_EQ(event.ud().ah_attr.is_global, 1);
  EXPECT_EQ(event.ud().private_data_len, kSidrRepBytes);
  EXPECT_EQ(static_cast<const std::uint8_t*>(event.ud().private_data)[0], 7);
}

TEST_F(Datagram, NoServiceArrivesAsUnreachableWithItsStatusAndData) {
  Placed placed = asking();
  const rdma_ud_param ud{};
  transport_.raise(
      *placed.endpoint,
      {.type = RDMA_CM_EVENT_UNREACHABLE, .status = 1, .private_data = answer_, .ud = &ud});

  const Event event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_UNREACHABLE));
  EXPECT_THAT(event, HasStatus(1));
  EXPECT_EQ(event.private_data().size(), kSidrRepBytes);
}

TEST_F(Datagram, AnAnswerWithTheWrongKeyIsAnAddressErrorAndTheIdStaysInConnect) {
  Placed placed = asking();
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);

  EXPECT_THAT(next(), HasStatus(-EINVAL));
}

TEST_F(Datagram, ARequestCarriesItsDataAndZeros) {
  listening_ = make_id(RDMA_PS_UDP);
  EXPECT_TRUE(listening_.id->bind(raw(here_)));
  EXPECT_TRUE(listening_.id->listen(10));
  const rdma_ud_param ud{};
  transport_.request(*listening_.endpoint,
                     {.type = RDMA_CM_EVENT_CONNECT_REQUEST, .private_data = question_, .ud = &ud});

  const Event event = next();

  EXPECT_EQ(event.ud().private_data_len, kSidrReqBytes);
  EXPECT_EQ(static_cast<const std::uint8_t*>(event.ud().private_data)[1], 2);
  EXPECT_EQ(event.ud().qp_num, 0u);
  EXPECT_EQ(event.ud().qkey, 0u);
}

TEST_F(Datagram, AcceptingNeedsNoQueuePairWhenItsNumberIsGiven) {
  Placed child = asked();
  rdma_conn_param param{};
  param.qp_num = 0x1234;
  EXPECT_CALL(*child.endpoint, accept(Field(&ConnectionParameters::qp_num, 0x1234u)));

  EXPECT_EQ(errno_of(child.id->accept(&param)), 0);

  EXPECT_TRUE(channel_is_empty());
}

TEST_F(Datagram, AcceptingWithoutQueuePairAndParametersIsRefused) {
  Placed child = asked();
  EXPECT_CALL(*child.endpoint, accept).Times(0);

  EXPECT_EQ(errno_of(child.id->accept(nullptr)), EINVAL);
}

TEST_F(Datagram, AcceptingLeavesTheQueuePairAsItIs) {
  Placed child = asked();
  create_qp(child);
  provider_.moves.clear();
  EXPECT_CALL(*child.endpoint,
              accept(Field(&ConnectionParameters::qp_num, child.id->qp()->qp_num)));

  EXPECT_EQ(errno_of(child.id->accept(nullptr)), 0);

  EXPECT_THAT(provider_.moves, ::testing::IsEmpty());
  EXPECT_TRUE(child.id->destroy_qp());
}

TEST_F(Datagram, RejectingGoesDownWithItsData) {
  Placed child = asked();
  EXPECT_CALL(*child.endpoint, reject(28, ::testing::SizeIs(3)));

  EXPECT_EQ(errno_of(child.id->reject(std::array<std::uint8_t, 3>{1, 2, 3})), 0);
}

TEST_F(Datagram, DisconnectingOnlyFlushesTheQueuePair) {
  Placed placed = asking();
  create_qp(placed);

  EXPECT_EQ(errno_of(placed.id->disconnect()), 0);

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_ERR);
  EXPECT_TRUE(placed.id->destroy_qp());
}

}  // namespace
}  // namespace anyrdma::cm::testing
