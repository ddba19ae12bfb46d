// What the kernel's half and librdmacm make of an id's queue pair together. Each row was seen on
// Linux 6.1 with a program linked with Debian's librdmacm.
#include <gmock/gmock.h>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

class QueuePair : public Scenario {
 protected:
  /// An id of rdma_create_ep(), on the party's channel. It is the caller's to destroy.
  static rdma_cm_id* unreliable(Party& party, const char* ip, int flags) {
    Address address(ip);
    rdma_addrinfo info{};
    info.ai_flags = flags;
    info.ai_port_space = RDMA_PS_IB;
    info.ai_qp_type = IBV_QPT_UC;
    const bool passive = (flags & RAI_PASSIVE) != 0;
    (passive ? info.ai_src_addr : info.ai_dst_addr) = address;
    (passive ? info.ai_src_len : info.ai_dst_len) = sizeof(sockaddr_in);
    rdma_cm_id* id = nullptr;
    party.as_program([&] {
      EXPECT_EQ(error_of(rdma_create_ep(&id, &info, nullptr, nullptr)), 0);
      EXPECT_EQ(error_of(rdma_migrate_id(id, party.channel())), 0);
    });
    return id;
  }
};

TEST_F(QueuePair, AnUnreliableConnectionBringsBothUp) {
  rdma_cm_id* listener = unreliable(server, kServer, RAI_PASSIVE);
  ASSERT_EQ(error_of(rdma_listen(listener, 1)), 0);
  rdma_cm_id* active = unreliable(client, kServer, 0);
  Party::make_qp(active);
  ASSERT_EQ(error_of(rdma_connect(active, nullptr)), 0);
  rdma_cm_id* passive = server.take_request();
  Party::make_qp(passive);

  EXPECT_EQ(error_of(rdma_accept(passive, nullptr)), 0);

  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  EXPECT_EQ(Party::qp_state(active), IBV_QPS_RTS);
  EXPECT_EQ(Party::qp_state(passive), IBV_QPS_RTS);
  client.destroy(active);
  server.destroy(passive);
  server.destroy(listener);
}

TEST_F(QueuePair, AnEarlyDisconnectIsRefusedAndHasFlushedItAllTheSame) {
  server.listen(kServer);
  rdma_cm_id* active = client.routed(kServer);
  Party::make_qp(active);

  EXPECT_EQ(error_of(rdma_disconnect(active)), EINVAL);

  EXPECT_EQ(Party::qp_state(active), IBV_QPS_ERR);
  EXPECT_EQ(error_of(rdma_connect(active, nullptr)), 0);
  rdma_cm_id* passive = server.take_request();
  Party::make_qp(passive);
  EXPECT_EQ(error_of(rdma_accept(passive, nullptr)), 0);
  client.take(RDMA_CM_EVENT_CONNECT_ERROR, -1);
}

TEST_F(QueuePair, AListenerForDatagramsMayHaveOne) {
  rdma_cm_id* listener = server.listen(kServer, 8, RDMA_PS_UDP);

  Party::make_qp(listener);

  EXPECT_EQ(Party::qp_state(listener), IBV_QPS_RTS);
  EXPECT_EQ(error_of(rdma_disconnect(listener)), 0);
}

TEST_F(QueuePair, ARequestsIdKnowsItsPath) {
  server.listen(kServer);
  rdma_cm_id* active = client.routed(kServer);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(active, &param)), 0);

  rdma_cm_id* passive = server.take_request();

  ASSERT_EQ(passive->route.num_paths, 1);
  ASSERT_NE(passive->route.path_rec, nullptr);
  EXPECT_EQ(passive->route.path_rec->mtu, active->route.path_rec->mtu);
  EXPECT_EQ(passive->route.addr.addr.ibaddr.pkey, 0) << "RoCE";
  EXPECT_EQ(passive->route.path_rec->pkey, 0xffff);
}

TEST_F(QueuePair, ADatagramServicesRequestHasNoPath) {
  server.listen(kServer, 8, RDMA_PS_UDP);
  rdma_cm_id* active = client.routed(kServer, RDMA_PS_UDP);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(active, &param)), 0);

  EXPECT_EQ(server.take_request()->route.num_paths, 0);
}

TEST_F(QueuePair, AfterTheLastDeviceChannelsAndIdsAreStillMade) {
  ASSERT_TRUE(server_host.devices().remove("anyrdma0"));
  rdma_event_channel* channel = nullptr;
  server.as_program([&] { channel = rdma_create_event_channel(); });

  ASSERT_NE(channel, nullptr);
  rdma_destroy_event_channel(channel);
  rdma_cm_id* id = server.make();
  EXPECT_EQ(error_of(rdma_listen(id, 1)), 0);
  rdma_cm_id* other = server.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(other, nullptr, Address(kClient), kPatienceMs)), 0);
  server.take(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
}

}  // namespace
}  // namespace anyrdma::semantics
