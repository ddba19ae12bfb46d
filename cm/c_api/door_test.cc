// The rdma_* functions as a C program uses them, over a MockTransport: what the door adds to cm.
#include <array>
#include <cstring>
#include <string_view>

#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

using testing::CmDoor;
using ::testing::Return;

TEST(NoFabric, EveryFirstCallGivesEnodev) {
  rdma_addrinfo* info = nullptr;

  EXPECT_EQ(rdma_create_event_channel(), nullptr);
  EXPECT_EQ(errno, ENODEV);
  errno = 0;
  EXPECT_EQ(rdma_getaddrinfo("127.0.0.1", "7471", nullptr, &info), -1);
  EXPECT_EQ(errno, ENODEV);
}

TEST_F(CmDoor, NullIdsAreEinvalWhereRdmaCoreWouldCrash) {
  rdma_cm_id* const none = nullptr;
  ibv_qp_attr attr{};
  int mask = 0;
  const std::array calls{
      rdma_destroy_id(none),
      rdma_migrate_id(none, channel),
      rdma_set_option(none, 0, 0, nullptr, 0),
      rdma_bind_addr(none, there()),
      rdma_resolve_addr(none, nullptr, there(), 1),
      rdma_resolve_route(none, 1),
      rdma_listen(none, 1),
      rdma_connect(none, nullptr),
      rdma_accept(none, nullptr),
      rdma_get_request(none, nullptr),
      rdma_establish(none),
      rdma_reject(none, nullptr, 0),
      rdma_reject_ece(none, nullptr, 0),
      rdma_disconnect(none),
      rdma_notify(none, IBV_EVENT_COMM_EST),
      rdma_create_qp(none, nullptr, nullptr),
      rdma_create_qp_ex(none, nullptr),
      rdma_init_qp_attr(none, &attr, &mask),
  };

  EXPECT_THAT(calls, ::testing::Each(-1));
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_qp(none);
  rdma_destroy_event_channel(nullptr);
  rdma_freeaddrinfo(nullptr);
  EXPECT_EQ(rdma_get_src_port(none), 0);
  EXPECT_EQ(rdma_get_dst_port(none), 0);
}

TEST_F(CmDoor, OtherNullArgumentsAreEinvalToo) {
  rdma_cm_id* id = make_id();
  rdma_cm_event* event = nullptr;

  EXPECT_EQ(rdma_create_id(channel, nullptr, nullptr, RDMA_PS_TCP), -1);
  EXPECT_EQ(rdma_bind_addr(id, nullptr), -1);
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, nullptr, 1), -1);
  EXPECT_EQ(rdma_init_qp_attr(id, nullptr, nullptr), -1);
  EXPECT_EQ(rdma_create_qp(id, nullptr, nullptr), -1);
  EXPECT_EQ(rdma_get_cm_event(nullptr, &event), -1);
  EXPECT_EQ(rdma_get_cm_event(channel, nullptr), -1);
  EXPECT_EQ(rdma_ack_cm_event(nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  destroy(id);
}

TEST_F(CmDoor, AnOptionWithoutItsValueIsABadAddress) {
  rdma_cm_id* id = make_id();

  EXPECT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, nullptr, 1), -1);

  EXPECT_EQ(errno, EFAULT);
  destroy(id);
}

TEST_F(CmDoor, ARejectionWithoutDataHasNone) {
  rdma_cm_id* id = make_id();
  EXPECT_CALL(transport.last(), reject(28, ::testing::IsEmpty()));

  EXPECT_EQ(rdma_reject(id, nullptr, 10), 0);
  destroy(id);
}

TEST_F(CmDoor, ErrorsOfTheTransportBecomeErrno) {
  rdma_cm_id* id = make_id();
  EXPECT_CALL(transport.last(), bind).WillOnce(Return(verbs::errno_code(EADDRINUSE)));

  EXPECT_EQ(rdma_bind_addr(id, there()), -1);

  EXPECT_EQ(errno, EADDRINUSE);
  destroy(id);
}

TEST_F(CmDoor, CallsInTheWrongStateAreEinval) {
  rdma_cm_id* id = make_id();
  rdma_conn_param param{};

  EXPECT_EQ(rdma_connect(id, &param), -1);
  EXPECT_EQ(rdma_accept(id, &param), -1);
  EXPECT_EQ(rdma_disconnect(id), -1);
  EXPECT_EQ(rdma_resolve_route(id, 1), -1);
  EXPECT_EQ(errno, EINVAL);
  destroy(id);
}

TEST_F(CmDoor, OptionFromNowhereIsEfault) {
  rdma_cm_id* id = make_id();

  EXPECT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, nullptr, 1), -1);

  EXPECT_EQ(errno, EFAULT);
  destroy(id);
}

TEST_F(CmDoor, LengthWithoutPrivateDataIsThatOfNone) {
  rdma_cm_id* id = routed();
  rdma_conn_param param{};
  param.private_data_len = 4;

  EXPECT_EQ(rdma_connect(id, &param), 0);
  destroy(id);
}

TEST_F(CmDoor, EventCarriesIdAndContextUntilAcknowledged) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);
  transport.raise(transport.last(), RDMA_CM_EVENT_ADDR_RESOLVED);

  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);

  EXPECT_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(event->id, id);
  EXPECT_EQ(event->id->context, this);
  EXPECT_EQ(ntohs(rdma_get_src_port(id)), 1025);
  EXPECT_EQ(ntohs(rdma_get_dst_port(id)), 7471);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  destroy(id);
}

TEST_F(CmDoor, NewIdOfARequestBelongsToTheProgram) {
  rdma_cm_id* listener = make_id();
  EXPECT_EQ(rdma_bind_addr(listener, there()), 0);
  EXPECT_EQ(rdma_listen(listener, 1), 0);
  transport.request(transport.last());

  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
  rdma_cm_id* child = event->id;
  EXPECT_EQ(event->listen_id, listener);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);

  EXPECT_CALL(transport.last(), reject(28, ::testing::SizeIs(2)))
      .WillOnce(Return(verbs::Result<void>()));
  EXPECT_EQ(rdma_reject(child, "no", 2), 0);
  destroy(child);
  destroy(listener);
}

TEST_F(CmDoor, MigrationTakesTheEventsAlong) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);
  transport.raise(transport.last(), RDMA_CM_EVENT_ADDR_RESOLVED);
  rdma_event_channel* other = rdma_create_event_channel();

  EXPECT_EQ(rdma_migrate_id(id, other), 0);

  EXPECT_EQ(id->channel, other);
  std::swap(channel, other);
  acknowledge_next(RDMA_CM_EVENT_ADDR_RESOLVED);
  destroy(id);
  rdma_destroy_event_channel(other);
}

// rping leaves a thread waiting on the channel that it destroys. Under AddressSanitizer this finds
// a channel that was freed.
TEST_F(CmDoor, ThreadThatComesToADestroyedChannelJustWaits) {
  rdma_event_channel* gone = rdma_create_event_channel();
  rdma_destroy_event_channel(gone);
  rdma_cm_event* event = nullptr;

  EXPECT_EQ(rdma_get_cm_event(gone, &event), -1);

  EXPECT_EQ(errno, EDEADLK);  // what the test's runtime says of waiting for ever
}

TEST_F(CmDoor, ExtendedQueuePairsHaveADomainAndNothingElse) {
  rdma_cm_id* id = routed();
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {1, 1, 1, 1, 0};
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.pd = id->pd;

  EXPECT_EQ(rdma_create_qp_ex(id, &attr), -1);
  EXPECT_EQ(errno, ENOTSUP);
  attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  EXPECT_EQ(rdma_create_qp_ex(id, &attr), 0);

  EXPECT_NE(id->qp, nullptr);
  rdma_destroy_qp(id);
  EXPECT_EQ(id->qp, nullptr);
  destroy(id);
}

TEST_F(CmDoor, AttributesForAQueuePairOfTheProgramComeWithTheirMask) {
  rdma_cm_id* id = routed();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  int mask = 0;

  EXPECT_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);

  EXPECT_EQ(attr.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(mask, IBV_QP_STATE);
  destroy(id);
}

TEST(EventNames, AreRdmaCores) {
  const auto number = [](int any) { return static_cast<rdma_cm_event_type>(any); };
  EXPECT_STREQ(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
  EXPECT_STREQ(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT), "RDMA_CM_EVENT_TIMEWAIT_EXIT");
  EXPECT_STREQ(rdma_event_str(number(16)), "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
  EXPECT_STREQ(rdma_event_str(number(17)), "RDMA_CM_EVENT_ADDRINFO_ERROR");
  for (int newer = 18; newer < 22; ++newer) {  // USER and INTERNAL have no name in librdmacm 65
    EXPECT_STREQ(rdma_event_str(number(newer)), "UNKNOWN EVENT");
  }
}

}  // namespace
}  // namespace anyrdma::c_api
