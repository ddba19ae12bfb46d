// rdma_init_qp_attr through an endpoint's life (cma.c:rdma_init_qp_attr).
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <infiniband/sa.h>

#include <cerrno>
#include <cstring>

#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using namespace std::chrono_literals;

constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                         IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                         IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

class Transitions : public World {
 protected:
  void TearDown() override { b.events.requests.clear(); }
  void request() {
    server = listener(b, b.address(0, kPort));
    client = routed(a, b.address(0, kPort));
    ASSERT_TRUE(client->connect({.responder_resources = 3,
                                 .initiator_depth = 5,
                                 .retry_count = 6,
                                 .rnr_retry_count = 4,
                                 .qp_num = 0x111}));
    settle();
  }
  void accept() {
    request();
    ASSERT_TRUE(child().accept(
        {.responder_resources = 1, .initiator_depth = 2, .rnr_retry_count = 3, .qp_num = 0x222}));
    settle();
  }
  Endpoint& child() { return *b.events.requests.front(); }

  std::unique_ptr<Endpoint> server;
  std::unique_ptr<Endpoint> client;
};

TEST_F(Transitions, BothSidesSendOnThePathThatWasAskedFor) {
  server = listener(b, b.address(0, kPort));
  client = a.endpoint();
  ASSERT_TRUE(client->resolve_address(nullptr, Sockaddr(b.address(0, kPort)).get(),
                                      std::chrono::seconds(1)));
  settle();
  ibv_path_data path{};
  path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
  path.path.mtu = IBV_MTU_1024;
  path.path.packetlifetime = 18;
  path.path.flowlabel_hoplimit = htonl(0x12345u << 8 | 7u);
  std::memcpy(path.path.sgid.raw, a.address().gid().raw, sizeof path.path.sgid);
  std::memcpy(path.path.dgid.raw, b.address().gid().raw, sizeof path.path.dgid);
  ASSERT_TRUE(client->set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
                                 {reinterpret_cast<const std::uint8_t*>(&path), sizeof path}));
  settle();
  ASSERT_TRUE(client->connect({.qp_num = 0x111}));
  settle();
  ASSERT_TRUE(child().accept({.qp_num = 0x222}));
  settle();

  const ibv_qp_attr active = client->qp_transition(IBV_QPS_RTR).value().attr;
  const ibv_qp_attr passive = child().qp_transition(IBV_QPS_RTR).value().attr;

  EXPECT_EQ(active.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(passive.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(active.ah_attr.grh.flow_label, 0x12345u);
  EXPECT_EQ(passive.ah_attr.grh.flow_label, 0x12345u);
  EXPECT_EQ(active.ah_attr.grh.hop_limit, 7);
  EXPECT_EQ(passive.ah_attr.grh.hop_limit, 64) << "of the message, as Linux has it";
}

TEST_F(Transitions, UnboundEndpointHasNone) {
  EXPECT_EQ(errno_of(a.endpoint()->qp_transition(IBV_QPS_INIT)), EINVAL);
}

TEST_F(Transitions, BeforeConnectInitGivesNoAccess) {
  client = routed(a, b.address(0, kPort));

  const QpTransition step = client->qp_transition(IBV_QPS_INIT).value();

  EXPECT_EQ(step.mask, kInitMask);
  EXPECT_EQ(step.attr.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(step.attr.port_num, 1);
  EXPECT_EQ(step.attr.pkey_index, 0);
  EXPECT_EQ(step.attr.qp_access_flags, 0u);
}

TEST_F(Transitions, DatagramInitHasTheQkey) {
  auto datagram = a.endpoint(RDMA_PS_UDP);
  const Sockaddr local(a.address(0, kPort));
  ASSERT_TRUE(datagram->bind(local.get()));

  const QpTransition step = datagram->qp_transition(IBV_QPS_INIT).value();

  EXPECT_EQ(step.mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  EXPECT_EQ(step.attr.qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
}

TEST_F(Transitions, RequestGivesRemoteAccessByItsDepth) {
  request();

  const QpTransition step = child().qp_transition(IBV_QPS_INIT).value();

  EXPECT_EQ(step.mask, kInitMask);
  EXPECT_EQ(step.attr.qp_access_flags,
            static_cast<unsigned>(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                  IBV_ACCESS_REMOTE_ATOMIC));
}

TEST_F(Transitions, WithoutResponderResourcesThereIsWriteAccessOnly) {
  server = listener(b, b.address(0, kPort));
  client = routed(a, b.address(0, kPort));
  ASSERT_TRUE(client->connect({}));
  settle();

  EXPECT_EQ(child().qp_transition(IBV_QPS_INIT)->attr.qp_access_flags,
            static_cast<unsigned>(IBV_ACCESS_REMOTE_WRITE));
}

TEST_F(Transitions, WaitingForTheReplyAllowsInitOnly) {
  request();

  EXPECT_EQ(errno_of(client->qp_transition(IBV_QPS_INIT)), 0);
  EXPECT_EQ(errno_of(client->qp_transition(IBV_QPS_RTR)), EINVAL);
  EXPECT_EQ(errno_of(client->qp_transition(IBV_QPS_RTS)), EINVAL);
}

TEST_F(Transitions, OtherTargetsAreInvalid) {
  accept();

  for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR}) {
    EXPECT_EQ(errno_of(client->qp_transition(state)), EINVAL) << state;
  }
}

TEST_F(Transitions, BothSidesAgreeOnQpnsAndPsns) {
  accept();

  const QpTransition passive_rtr = child().qp_transition(IBV_QPS_RTR).value();
  const QpTransition passive_rts = child().qp_transition(IBV_QPS_RTS).value();
  const QpTransition active_rtr = client->qp_transition(IBV_QPS_RTR).value();
  const QpTransition active_rts = client->qp_transition(IBV_QPS_RTS).value();

  EXPECT_EQ(passive_rtr.mask, kRtrMask);
  EXPECT_EQ(passive_rts.mask, kRtsMask);
  EXPECT_EQ(passive_rtr.attr.dest_qp_num, 0x111u);
  EXPECT_EQ(active_rtr.attr.dest_qp_num, 0x222u);
  EXPECT_EQ(passive_rtr.attr.rq_psn, active_rts.attr.sq_psn);
  EXPECT_EQ(active_rtr.attr.rq_psn, passive_rts.attr.sq_psn);
  EXPECT_NE(active_rtr.attr.rq_psn, passive_rtr.attr.rq_psn);
}

TEST_F(Transitions, AddressVectorPointsAtThePeer) {
  accept();

  const ibv_ah_attr active = client->qp_transition(IBV_QPS_RTR)->attr.ah_attr;
  const ibv_ah_attr passive = child().qp_transition(IBV_QPS_RTR)->attr.ah_attr;

  EXPECT_EQ(active.is_global, 1);
  EXPECT_EQ(active.port_num, 1);
  EXPECT_EQ(active.grh.sgid_index, 1);
  const ibv_gid gid_a = a.address().gid();
  const ibv_gid gid_b = b.address().gid();
  EXPECT_EQ(0, std::memcmp(&active.grh.dgid, &gid_b, sizeof gid_b));
  EXPECT_EQ(0, std::memcmp(&passive.grh.dgid, &gid_a, sizeof gid_a));
  EXPECT_EQ(active.grh.hop_limit, 64);
}

TEST_F(Transitions, DepthsAndRetriesAreThoseOfTheHandshake) {
  accept();

  const ibv_qp_attr active_rtr = client->qp_transition(IBV_QPS_RTR)->attr;
  const ibv_qp_attr active_rts = client->qp_transition(IBV_QPS_RTS)->attr;
  const ibv_qp_attr passive_rtr = child().qp_transition(IBV_QPS_RTR)->attr;
  const ibv_qp_attr passive_rts = child().qp_transition(IBV_QPS_RTS)->attr;

  EXPECT_EQ(active_rtr.max_dest_rd_atomic, 2);  // the server's numbers, swapped
  EXPECT_EQ(active_rts.max_rd_atomic, 1);
  EXPECT_EQ(active_rts.retry_cnt, 6);
  EXPECT_EQ(active_rts.rnr_retry, 3);
  EXPECT_EQ(passive_rtr.max_dest_rd_atomic, 1);
  EXPECT_EQ(passive_rts.max_rd_atomic, 2);
  EXPECT_EQ(passive_rts.retry_cnt, 6);
  EXPECT_EQ(passive_rts.rnr_retry, 4);
  EXPECT_EQ(active_rtr.path_mtu, IBV_MTU_4096);
  EXPECT_EQ(passive_rtr.path_mtu, IBV_MTU_4096);
  EXPECT_EQ(active_rtr.min_rnr_timer, 0);
}

TEST_F(Transitions, AckTimeoutOptionWins) {
  const std::uint8_t timeout = 9;
  accept();
  const std::uint8_t before = client->qp_transition(IBV_QPS_RTS)->attr.timeout;
  EXPECT_GE(before, 19);

  ASSERT_TRUE(client->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, {&timeout, 1}));

  EXPECT_EQ(client->qp_transition(IBV_QPS_RTS)->attr.timeout, 9);
}

TEST_F(Transitions, FinishedConnectionAllowsNone) {
  accept();
  ASSERT_TRUE(client->establish());
  settle();
  EXPECT_EQ(errno_of(client->qp_transition(IBV_QPS_RTS)), 0);

  ASSERT_TRUE(client->disconnect());
  settle();

  EXPECT_EQ(errno_of(client->qp_transition(IBV_QPS_INIT)), EINVAL);
  EXPECT_EQ(errno_of(child().qp_transition(IBV_QPS_RTS)), EINVAL);
}

TEST_F(Transitions, ListenerHasNone) {
  server = listener(b, b.address(0, kPort));

  EXPECT_EQ(errno_of(server->qp_transition(IBV_QPS_INIT)), EINVAL);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
