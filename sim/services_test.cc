// Every service and the objects of the extended interfaces, over a network with faults, while the
// checkers watch (docs/checkers.md): nothing here may look wrong to them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/testing/end.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

class Services : public ::testing::Test {
 protected:
  void inject(std::string_view plan) {
    ASSERT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  }
  void connect(ibv_qp_type type) {
    client.make_qp(type);
    server.make_qp(type);
    client.connect(server);
    server.connect(client);
  }
  std::uint32_t connect_halves() {
    client.make_qp(IBV_QPT_XRC_SEND);
    const std::uint32_t number = server.make_receiver();
    client.connect(server);
    server.connect(client);
    return number;
  }
  void send_to(std::uint32_t number, std::uint64_t id) {
    client.words[0] = id;
    client.post(IBV_WR_SEND, id, 600,
                [number](ibv_send_wr& request) { request.qp_type.xrc.remote_srqn = number; });
  }

  World world{1};
  Host& client_host = world.add_host("client", {"10.0.0.1"});
  Host& server_host = world.add_host("server", {"10.0.0.2"});
  End client{client_host};
  End server{server_host};
};

TEST_F(Services, AnUnreliableConnectionLosesMessagesInSilence) {
  connect(IBV_QPT_UC);
  inject("on client->server packet 4: lose");  // the first of the second message's three
  for (const std::uint64_t id : {1u, 2u, 3u}) server.post_receive(id);
  for (const std::uint64_t id : {1u, 2u, 3u}) {
    client.words[0] = id;
    client.post(IBV_WR_SEND, id, 600);
    world.run_for(1ms);
  }

  EXPECT_EQ(client.statuses(), Statuses(3, IBV_WC_SUCCESS));
  EXPECT_EQ(server.statuses(), Statuses(2, IBV_WC_SUCCESS));
  EXPECT_EQ(server.words[2 * End::kMessageWords], 3u);
  EXPECT_EQ(server.qp->state, IBV_QPS_RTS);
}

// Whatever packet begins a message is taken (IBTA vol 1, 9.8.2.2; rxe_resp.c, check_psn): neither
// the order nor the number of messages is anybody's concern.
TEST_F(Services, AnUnreliableConnectionTakesMessagesLateAndTwice) {
  connect(IBV_QPT_UC);
  inject(
      "on client->server packet 1: reorder\n"
      "on client->server packet 4: duplicate\n");
  for (const std::uint64_t id : {1u, 2u, 3u, 4u, 5u}) server.post_receive(id);
  for (const std::uint64_t id : {1u, 2u, 3u, 4u}) {
    client.words[0] = id;
    client.post(IBV_WR_SEND, id, sizeof id);
    world.run_for(1us);
  }
  world.run_for(1ms);

  EXPECT_EQ(server.statuses(), Statuses(5, IBV_WC_SUCCESS));
  std::vector<std::uint64_t> arrived;
  for (std::size_t i = 1; i <= 5; ++i) arrived.push_back(server.words[i * End::kMessageWords]);
  EXPECT_EQ(arrived, (std::vector<std::uint64_t>{2, 1, 3, 4, 4}));
}

TEST_F(Services, AnUnreliableConnectionHasNoErrorsOfItsPeersMaking) {
  connect(IBV_QPT_UC);
  inject(
      "maybe on client completion RDMA_WRITE 1: complete REM_ACCESS_ERR\n"
      "on client completion RDMA_WRITE 2: complete LOC_PROT_ERR\n");
  client.access(IBV_WR_RDMA_WRITE, server, server.mr->rkey);
  client.access(IBV_WR_RDMA_WRITE, server, server.mr->rkey);
  world.run_for(1s);

  EXPECT_EQ(client.statuses(), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR}));
  EXPECT_EQ(world.faults().status().front().fired, 0u);
}

TEST_F(Services, AnExtendedConnectionRepeatsWhatIsLost) {
  const std::uint32_t number = connect_halves();
  inject(
      "on client->server packet 2: lose\n"
      "on server->client packet 1: lose\n");
  for (const std::uint64_t id : {1u, 2u, 3u}) server.post_receive(id);
  for (const std::uint64_t id : {1u, 2u, 3u}) {
    send_to(number, id);
    world.run_for(1s);
  }

  EXPECT_EQ(client.statuses(), Statuses(3, IBV_WC_SUCCESS));
  EXPECT_EQ(server.ids(), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Services, AReceiveOfAnExtendedConnectionThatFailsIsTheSendersErrorToo) {
  const std::uint32_t number = connect_halves();
  inject("on server completion RECV 2: complete LOC_PROT_ERR");
  for (const std::uint64_t id : {1u, 2u}) server.post_receive(id);
  for (const std::uint64_t id : {1u, 2u}) {
    send_to(number, id);
    world.run_for(1s);
  }

  EXPECT_EQ(server.statuses(), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR}));
  EXPECT_EQ(client.statuses(), (Statuses{IBV_WC_SUCCESS, IBV_WC_REM_OP_ERR}));
}

TEST_F(Services, AnExtendedConnectionEndsWithTheCompletionQueueOfItsReceives) {
  const std::uint32_t number = connect_halves();
  server.post_receive(1);
  send_to(number, 1);
  inject("at 1s: cq-overrun server#cq1");
  world.run_for(2s);

  EXPECT_EQ(server.next_event(), IBV_EVENT_CQ_ERR);
  EXPECT_EQ(server.next_event(), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(server.qp->state, IBV_QPS_ERR);
}

TEST_F(Services, AnExtendedReceiverMayFailByItself) {
  connect_halves();
  inject("at 1s: qp-error server#qp1 QP_REQ_ERR");
  world.run_for(2s);
  EXPECT_EQ(server.next_event(), IBV_EVENT_QP_REQ_ERR);
}

TEST_F(Services, AnAtomicWhoseAnswerIsLostIsDoneOnce) {
  connect(IBV_QPT_RC);
  inject("on server->client packet 1: lose");
  server.words[0] = 40;
  client.add(server, 2);
  client.add(server, 3);
  world.run_for(1s);

  EXPECT_EQ(client.statuses(), Statuses(2, IBV_WC_SUCCESS));
  EXPECT_EQ(server.words[0], 45u);
}

TEST_F(Services, AnInvalidatedKeyOpensNothing) {
  connect(IBV_QPT_RC);
  ibv_mw* const window = ibv_alloc_mw(server.pd, IBV_MW_TYPE_2);
  ASSERT_NE(window, nullptr);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  server.bind(window, key);
  client.access(IBV_WR_RDMA_WRITE, server, key);
  world.run_for(1s);
  EXPECT_EQ(client.statuses(), Statuses{IBV_WC_SUCCESS});
  server.post(IBV_WR_LOCAL_INV, 2, 0,
              [key](ibv_send_wr& request) { request.invalidate_rkey = key; });
  EXPECT_EQ(server.statuses(), Statuses(2, IBV_WC_SUCCESS));

  client.access(IBV_WR_RDMA_WRITE, server, key);
  world.run_for(1s);

  EXPECT_EQ(client.statuses(), Statuses{IBV_WC_REM_ACCESS_ERR});
}

TEST_F(Services, ADeregisteredKeyOpensNothing) {
  connect(IBV_QPT_RC);
  const std::uint32_t key = server.mr->rkey;
  ASSERT_TRUE(server.hca().dereg_mr(server.mr));

  client.access(IBV_WR_RDMA_READ, server, key);
  world.run_for(1s);

  EXPECT_EQ(client.statuses(), Statuses{IBV_WC_REM_ACCESS_ERR});
}

TEST_F(Services, ASharedReceiveQueueTellsOfItsLimitAndOfTheLastReceive) {
  ibv_srq* const srq = server.make_srq();
  client.make_qp(IBV_QPT_RC);
  server.make_qp(IBV_QPT_RC, srq);
  client.connect(server);
  server.connect(client);
  for (const std::uint64_t id : {1u, 2u, 3u}) server.post_receive(id);
  ASSERT_TRUE(
      server.hca().modify_srq(srq, {.max_wr = 0, .max_sge = 0, .srq_limit = 2}, IBV_SRQ_LIMIT));
  for (const std::uint64_t id : {1u, 2u}) client.post(IBV_WR_SEND, id, 16);
  world.run_for(1s);
  EXPECT_EQ(server.next_event(), IBV_EVENT_SRQ_LIMIT_REACHED);

  server.modify(IBV_QPS_ERR, 0, {});

  EXPECT_EQ(server.next_event(), IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(server.ids(), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Services, ASharedReceiveQueueThatFailsTakesItsQueuePairsWithIt) {
  ibv_srq* const srq = server.make_srq();
  client.make_qp(IBV_QPT_RC);
  server.make_qp(IBV_QPT_RC, srq);
  client.connect(server);
  server.connect(client);
  server.post_receive(1);
  inject("at 1s: srq-error server#srq2\nat 2s: srq-error server#srq1");
  world.run_for(3s);

  EXPECT_EQ(server.next_event(), IBV_EVENT_SRQ_ERR);
  EXPECT_EQ(server.next_event(), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(server.qp->state, IBV_QPS_ERR);
  EXPECT_EQ(world.faults().status()[0].observed, 0u);
  EXPECT_EQ(world.faults().status()[1].observed, 1u);
  client.post(IBV_WR_SEND, 1, 16);
  world.run_for(60s);
  EXPECT_EQ(client.statuses(), Statuses{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(Services, AQueueThatDropsCompletionsGivesTheLastOnes) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 2;
  init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  server.cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(server.context, &init));
  connect(IBV_QPT_RC);
  for (const std::uint64_t id : {1u, 2u, 3u, 4u}) server.post_receive(id);
  for (const std::uint64_t id : {1u, 2u, 3u, 4u}) client.post(IBV_WR_SEND, id, 16);
  world.run_for(1s);

  EXPECT_EQ(server.ids(), (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(client.statuses(), Statuses(4, IBV_WC_SUCCESS));
}

TEST_F(Services, WhatABracketPostsIsWorkLikeAnyOther) {
  ibv_qp_init_attr_ex init{};
  init.send_cq = init.recv_cq = client.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {16, 16, 1, 1, 0};
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  init.pd = client.pd;
  init.send_ops_flags = IBV_QP_EX_WITH_SEND;
  client.qp = verbs_get_ctx(client.context)->create_qp_ex(client.context, &init);
  server.make_qp(IBV_QPT_RC);
  client.connect(server);
  server.connect(client);
  inject("on client completion SEND 2: complete RETRY_EXC_ERR");
  for (const std::uint64_t id : {1u, 2u}) server.post_receive(id);
  ibv_qp_ex* const qp = client.hca().qp_to_qp_ex(client.qp);
  ibv_wr_start(qp);
  for (const std::uint64_t id : {1u, 2u}) {
    qp->wr_id = id;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(qp);
    ibv_wr_set_sge(qp, client.mr->lkey, client.address(), 16);
  }
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  world.run_for(1s);

  EXPECT_EQ(client.statuses(), (Statuses{IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR}));
  EXPECT_EQ(server.statuses(), Statuses{IBV_WC_SUCCESS});
}

}  // namespace
}  // namespace anyrdma::sim::testing
