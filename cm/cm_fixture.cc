#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {

CmTest::CmTest() {
  transport_.default_binding = resolved_binding(provider_.context());
  channel_ = EventChannel::create(transport_).value();
}

Placed CmTest::make_id(rdma_port_space space) {
  Placed placed;
  placed.id = Id::create(*channel_, space, nullptr).value();
  placed.endpoint = &transport_.last();
  placed.handler = &placed.endpoint->handler();
  return placed;
}

Event CmTest::next() {
  Result<Event> event = channel_->try_get();
  EXPECT_EQ(errno_of(event), 0);
  return std::move(*event);
}

bool CmTest::channel_is_empty() {
  return errno_of(channel_->try_get()) == EAGAIN;
}

void CmTest::deliver(const Placed& placed, rdma_cm_event_type type, int status) {
  transport_.raise(*placed.endpoint, type, status);
  EXPECT_THAT(next(), EventIs(type));
}

Placed CmTest::place(Place state) {
  Placed placed = make_id();
  Id& id = *placed.id;
  switch (state) {
    case Place::kIdle:
      break;
    case Place::kAddrBound:
      EXPECT_TRUE(id.bind(raw(here_)));
      EXPECT_TRUE(id.join_multicast(raw(group_), nullptr));
      break;
    case Place::kAddrQuery:
      placed = place(Place::kAddrBound);
      EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
      break;
    case Place::kAddrResolved:
    case Place::kRouteQuery:
    case Place::kRouteResolved:
      placed = place(state == Place::kAddrResolved ? Place::kAddrQuery
                     : state == Place::kRouteQuery ? Place::kAddrResolved
                                                   : Place::kRouteQuery);
      if (state == Place::kAddrResolved) deliver(placed, RDMA_CM_EVENT_ADDR_RESOLVED);
      if (state == Place::kRouteQuery) {
        EXPECT_TRUE(placed.id->resolve_route(kTimeout));
      }
      if (state == Place::kRouteResolved) deliver(placed, RDMA_CM_EVENT_ROUTE_RESOLVED);
      break;
    case Place::kConnect: {
      placed = place(Place::kRouteResolved);
      const rdma_conn_param param{};
      EXPECT_TRUE(placed.id->connect(&param));
      break;
    }
    case Place::kDisconnect:
      placed = place(Place::kConnect);
      deliver(placed, RDMA_CM_EVENT_DISCONNECTED);
      break;
    case Place::kListen:
      placed = place(Place::kAddrBound);
      EXPECT_TRUE(placed.id->listen(10));
      break;
    case Place::kDeviceRemoval:
      placed = place(Place::kConnect);
      deliver(placed, RDMA_CM_EVENT_DEVICE_REMOVAL);
      ON_CALL(*placed.endpoint, admits).WillByDefault(Return(Result<void>(errno_code(ENXIO))));
      break;
    case Place::kDestroying:
      channel_ = EventChannel::create(transport_).value();
      break;
  }
  return placed;
}

Placed CmTest::listener(int backlog) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->bind(raw(here_)));
  EXPECT_TRUE(placed.id->listen(backlog));
  return placed;
}

Placed CmTest::incoming(Placed& listening, const rdma_conn_param& conn) {
  Placed placed;
  placed.endpoint = transport_.request(*listening.endpoint, conn);
  Event event = next();
  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
  placed.id = event.take_request();
  return placed;
}

ibv_qp_init_attr CmTest::qp_attributes() {
  ibv_qp_init_attr attributes{};
  attributes.cap.max_send_wr = 8;
  attributes.cap.max_recv_wr = 8;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  return attributes;
}

}  // namespace anyrdma::cm::testing
