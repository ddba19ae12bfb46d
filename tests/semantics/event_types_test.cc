// Every type of event, 0 to 15, as an honest cause brings it about: every field of its parameters.
#include <gmock/gmock.h>

#include <array>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

void expect_no_conn(const Seen& seen) {
  EXPECT_EQ(seen.conn.private_data, nullptr);
  EXPECT_EQ(seen.conn.private_data_len, 0);
  EXPECT_EQ(seen.conn.responder_resources, 0);
  EXPECT_EQ(seen.conn.initiator_depth, 0);
  EXPECT_EQ(seen.conn.flow_control, 0);
  EXPECT_EQ(seen.conn.retry_count, 0);
  EXPECT_EQ(seen.conn.rnr_retry_count, 0);
  EXPECT_EQ(seen.conn.srq, 0);
  EXPECT_EQ(seen.conn.qp_num, 0u);
}

/// An event that says no more than its type and `status`.
void expect_bare(const Seen& seen, const rdma_cm_id* id, int status = 0) {
  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.listen_id, nullptr);
  EXPECT_EQ(seen.status, status);
  expect_no_conn(seen);
}

class EventTypes : public Scenario {
 protected:
  EventTypes() {
    asked.flow_control = granted.flow_control = 1;
    asked.retry_count = 5;
    asked.rnr_retry_count = 6;
    granted.rnr_retry_count = 4;
  }
  /// The client's request with `asked`, its id with a QP.
  rdma_cm_id* ask_with_qp() {
    rdma_cm_id* id = client.routed(kServer);
    Party::make_qp(id);
    EXPECT_EQ(error_of(rdma_connect(id, &asked)), 0);
    return id;
  }
  /// Takes the request and grants it with `granted`, with a QP.
  rdma_cm_id* grant_with_qp() {
    rdma_cm_id* id = server.take_request();
    Party::make_qp(id);
    EXPECT_EQ(error_of(rdma_accept(id, &granted)), 0);
    return id;
  }
  /// What the REP said.
  void expect_granted(const Seen& seen, std::uint32_t qp_num) {
    EXPECT_EQ(seen.listen_id, nullptr);
    EXPECT_EQ(seen.data, padded("granted", 196));
    EXPECT_EQ(seen.conn.responder_resources, 4);
    EXPECT_EQ(seen.conn.initiator_depth, 3);
    EXPECT_EQ(seen.conn.flow_control, 1);
    EXPECT_EQ(seen.conn.retry_count, 0);
    EXPECT_EQ(seen.conn.rnr_retry_count, 4);
    EXPECT_EQ(seen.conn.srq, 0);
    EXPECT_EQ(seen.conn.qp_num, qp_num);
  }

  rdma_conn_param asked = parameters("asked", 1, 2);
  rdma_conn_param granted = parameters("granted", 3, 4);
};

TEST_F(EventTypes, Type00AddrResolved) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);

  expect_bare(client.take(RDMA_CM_EVENT_ADDR_RESOLVED), id);

  EXPECT_NE(id->verbs, nullptr);
  EXPECT_NE(id->pd, nullptr);
  EXPECT_EQ(id->port_num, 1);
}

TEST_F(EventTypes, Type01AddrError) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address("192.0.2.77"), kPatienceMs)), 0);

  expect_bare(client.take(RDMA_CM_EVENT_ADDR_ERROR), id, -ETIMEDOUT);
}

TEST_F(EventTypes, Type02RouteResolved) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);
  client.take(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), 0);

  expect_bare(client.take(RDMA_CM_EVENT_ROUTE_RESOLVED), id);

  EXPECT_EQ(id->route.num_paths, 1);
}

// On RoCE no route fails later than in the call; but the library cannot ask for the path any more
// when the device is gone by the time of the fetch.
TEST_F(EventTypes, Type03RouteError) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);
  client.take(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), 0);
  ASSERT_TRUE(client_host.devices().remove("anyrdma0"));

  expect_bare(client.take(RDMA_CM_EVENT_ROUTE_ERROR), id, -1);

  client.take(RDMA_CM_EVENT_DEVICE_REMOVAL);
}

TEST_F(EventTypes, Type04ConnectRequest) {
  rdma_cm_id* listener = server.listen(kServer);
  rdma_cm_id* active = ask_with_qp();

  const Seen seen = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);

  EXPECT_NE(seen.id, listener);
  EXPECT_EQ(seen.listen_id, listener);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.data, padded("asked", 56));
  EXPECT_EQ(seen.conn.responder_resources, 2);
  EXPECT_EQ(seen.conn.initiator_depth, 1);
  EXPECT_EQ(seen.conn.flow_control, 1);
  EXPECT_EQ(seen.conn.retry_count, 5);
  EXPECT_EQ(seen.conn.rnr_retry_count, 6);
  EXPECT_EQ(seen.conn.srq, 0);
  EXPECT_EQ(seen.conn.qp_num, active->qp->qp_num);
}

TEST_F(EventTypes, Type05ConnectResponse) {
  server.listen(kServer);
  rdma_cm_id* id = client.routed(kServer);
  EXPECT_EQ(error_of(rdma_connect(id, &asked)), 0);
  rdma_cm_id* passive = grant_with_qp();

  const Seen seen = client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

  EXPECT_EQ(seen.id, id);
  expect_granted(seen, passive->qp->qp_num);
}

TEST_F(EventTypes, Type06ConnectError) {
  server.listen(kServer);
  rdma_cm_id* id = ask_with_qp();
  rdma_cm_id* passive = grant_with_qp();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(ibv_modify_qp(id->qp, &attr, IBV_QP_STATE), 0);

  const Seen seen = client.take(RDMA_CM_EVENT_CONNECT_ERROR, -1);

  EXPECT_EQ(seen.id, id);
  expect_granted(seen, passive->qp->qp_num);
}

TEST_F(EventTypes, Type07Unreachable) {
  plan("on client->server REQ all: lose");
  rdma_cm_id* id = ask_with_qp();

  expect_bare(client.take(RDMA_CM_EVENT_UNREACHABLE), id, -ETIMEDOUT);
}

TEST_F(EventTypes, Type08Rejected) {
  server.listen(kServer);
  rdma_cm_id* id = ask_with_qp();
  EXPECT_EQ(error_of(rdma_reject(server.take_request(), "no", 2)), 0);

  Seen seen = client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);

  EXPECT_EQ(seen.data, padded("no", 148));
  EXPECT_NE(seen.conn.private_data, nullptr);
  seen.conn.private_data = nullptr;
  seen.conn.private_data_len = 0;
  expect_bare(seen, id, kConsumerDefined);
}

TEST_F(EventTypes, Type08RejectedForItsOptions) {
  server.listen(kServer);
  ask_with_qp();
  EXPECT_EQ(error_of(rdma_reject_ece(server.take_request(), "no", 2)), 0);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, 35).data, padded("no", 148));
}

TEST_F(EventTypes, Type09Established) {
  server.listen(kServer);
  rdma_cm_id* active = ask_with_qp();
  rdma_cm_id* passive = grant_with_qp();

  const Seen seen = client.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_EQ(seen.id, active);
  expect_granted(seen, passive->qp->qp_num);
  expect_bare(server.take(RDMA_CM_EVENT_ESTABLISHED), passive);
}

TEST_F(EventTypes, Type09EstablishedOfADatagramService) {
  server.listen(kServer, 1, RDMA_PS_UDP);
  rdma_cm_id* id = client.routed(kServer, RDMA_PS_UDP);
  Party::make_qp(id);
  EXPECT_EQ(error_of(rdma_connect(id, &asked)), 0);
  Seen request = server.take(RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  EXPECT_EQ(request.ud.qp_num, 0u);
  EXPECT_EQ(request.ud.qkey, 0u);
  Party::make_qp(request.id);
  EXPECT_EQ(error_of(rdma_accept(request.id, &granted)), 0);

  const Seen seen = client.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.data, padded("granted", 136));
  EXPECT_EQ(seen.ud.qp_num, request.id->qp->qp_num);
  EXPECT_EQ(seen.ud.qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
  const ibv_ah_attr& path = seen.ud.ah_attr;
  EXPECT_EQ(path.is_global, 1);
  EXPECT_EQ(path.port_num, 1);
  EXPECT_EQ(std::memcmp(path.grh.dgid.raw, id->route.addr.addr.ibaddr.dgid.raw, 16), 0);
}

TEST_F(EventTypes, Type10Disconnected) {
  const Connection connection = connect();
  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);

  expect_bare(server.take(RDMA_CM_EVENT_DISCONNECTED), connection.passive);

  EXPECT_EQ(error_of(rdma_disconnect(connection.passive)), 0);
  expect_bare(client.take(RDMA_CM_EVENT_DISCONNECTED), connection.active);
}

TEST_F(EventTypes, Type11DeviceRemoval) {
  const Connection connection = connect();
  ASSERT_TRUE(server_host.devices().remove("anyrdma0"));

  expect_bare(server.take(RDMA_CM_EVENT_DEVICE_REMOVAL), connection.passive);
}

TEST_F(EventTypes, Type12MulticastJoin) {
  int context = 0;
  rdma_cm_id* id = client.make(RDMA_PS_UDP);
  EXPECT_EQ(error_of(rdma_bind_addr(id, Address(kClient, 0))), 0);
  EXPECT_EQ(error_of(rdma_join_multicast(id, Address("239.1.1.1", 0), &context)), 0);

  const Seen seen = client.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);

  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.listen_id, nullptr);
  EXPECT_EQ(seen.ud.private_data, &context);
  EXPECT_EQ(seen.ud.private_data_len, 0);
  EXPECT_EQ(seen.ud.qp_num, 0xffffffu);
  EXPECT_EQ(seen.ud.qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
  const ibv_ah_attr& path = seen.ud.ah_attr;
  EXPECT_EQ(path.is_global, 1);
  EXPECT_EQ(path.port_num, 1);
  EXPECT_EQ(path.dlid, 0);
  EXPECT_EQ(path.grh.hop_limit, 64);
  const std::array<std::uint8_t, 16> group{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 1, 1};
  EXPECT_EQ(std::memcmp(path.grh.dgid.raw, group.data(), group.size()), 0);
}

// The library's part of joining fails: the device cannot attach a QP to a second group.
TEST(EventTypesOfASmallDevice, Type13MulticastError) {
  sim::World world(1);
  sim::Host& host = world.add_host(
      "host", {.interfaces = {{.addresses = {"192.0.2.1"},
                               .device = verbs::soft::HcaConfig{.max_mcast_grp = 1}}}});
  Party party(host);
  int context = 0;
  rdma_cm_id* id = party.make(RDMA_PS_UDP);
  EXPECT_EQ(error_of(rdma_bind_addr(id, Address("192.0.2.1", 0))), 0);
  Party::make_qp(id);
  EXPECT_EQ(error_of(rdma_join_multicast(id, Address("239.1.1.1", 0), nullptr)), 0);
  party.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
  EXPECT_EQ(error_of(rdma_join_multicast(id, Address("239.1.1.2", 0), &context)), 0);

  const Seen seen = party.take(RDMA_CM_EVENT_MULTICAST_ERROR, -1);

  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.listen_id, nullptr);
  EXPECT_EQ(seen.ud.private_data, &context);
  EXPECT_EQ(seen.ud.private_data_len, 0);
  for (const char* group : {"239.1.1.1", "239.1.1.2"}) {
    EXPECT_EQ(error_of(rdma_leave_multicast(id, Address(group, 0))), 0) << "to clean up";
  }
}

TEST_F(EventTypes, Type14AddrChange) {
  const Connection connection = connect();
  ASSERT_TRUE(server_host.interfaces().fail_over("eth0"));

  expect_bare(server.take(RDMA_CM_EVENT_ADDR_CHANGE), connection.passive);
}

TEST_F(EventTypes, Type15TimewaitExit) {
  const Connection connection = connect();
  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);
  server.take(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(error_of(rdma_disconnect(connection.passive)), 0);
  client.take(RDMA_CM_EVENT_DISCONNECTED);

  expect_bare(client.take(RDMA_CM_EVENT_TIMEWAIT_EXIT), connection.active);
  expect_bare(server.take(RDMA_CM_EVENT_TIMEWAIT_EXIT), connection.passive);
}

}  // namespace
}  // namespace anyrdma::semantics
