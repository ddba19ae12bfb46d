// Every service and the objects of the extended interfaces, over a network with faults, while the
// checkers watch (docs/checkers.md): nothing here may look wrong to them.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/testing/audit.h"
#include "sim/world.h"
#include "verbs/provider.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using Statuses = std::vector<ibv_wc_status>;

/// A program's device, memory and one queue pair. All ends with it.
class End {
 public:
  explicit End(Host& host) : host_(host), context(hca().open_device(hca().device()).value()) {
    require_audit();
    pd = hca().alloc_pd(context).value();
    cq = hca().create_cq(context, 64, nullptr, nullptr, 0).value();
    constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                              IBV_ACCESS_MW_BIND;
    mr = hca().reg_mr(pd, words.data(), sizeof words, address(), kAll).value();
  }
  ~End() { (void)hca().close_device(context); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] verbs::soft::Hca& hca() const { return host_.hca(); }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(words.data());
  }

  void make_qp(ibv_qp_type type, ibv_srq* srq = nullptr) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.srq = srq;
    init.qp_type = type;
    init.cap = {16, 16, 1, 1, 0};
    qp = hca().create_qp(pd, &init).value();
  }
  ibv_srq* make_srq() {
    ibv_srq_init_attr init{.srq_context = nullptr,
                           .attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0}};
    return hca().create_srq(pd, &init).value();
  }
  /// An extended connection's receiving half and a shared receive queue, whose number it returns.
  std::uint32_t make_receiver() {
    ibv_xrcd_init_attr of_domain{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                                 .fd = -1,
                                 .oflags = O_CREAT};
    ibv_xrcd* const domain = ibv_open_xrcd(context, &of_domain);
    ibv_srq_init_attr_ex of_queue{};
    of_queue.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0};
    of_queue.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                         IBV_SRQ_INIT_ATTR_CQ;
    of_queue.srq_type = IBV_SRQT_XRC;
    of_queue.pd = pd;
    of_queue.xrcd = domain;
    of_queue.cq = cq;
    queue = verbs_get_ctx(context)->create_srq_ex(context, &of_queue);
    ibv_qp_init_attr_ex receiver{};
    receiver.qp_type = IBV_QPT_XRC_RECV;
    receiver.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    receiver.xrcd = domain;
    qp = verbs_get_ctx(context)->create_qp_ex(context, &receiver);
    std::uint32_t number = 0;
    EXPECT_EQ(ibv_get_srq_num(queue, &number), 0);
    return number;
  }

  void connect(const End& peer) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, attr);
    attr.path_mtu = IBV_MTU_256;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.dgid = peer.hca().gids().front();
    const int reliable = qp->qp_type == IBV_QPT_UC ? 0 : ~0;
    constexpr int kToReceive = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    modify(IBV_QPS_RTR,
           IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | (kToReceive & reliable),
           attr);
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    constexpr int kToSend =
        IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    modify(IBV_QPS_RTS, IBV_QP_SQ_PSN | (kToSend & reliable), attr);
  }
  void modify(ibv_qp_state state, int mask, ibv_qp_attr attr) {
    attr.qp_state = state;
    ASSERT_TRUE(hca().modify_qp(qp, &attr, mask | IBV_QP_STATE)) << state;
  }

  /// Into the id-th part of its memory.
  void post_receive(std::uint64_t id) {
    constexpr std::uint32_t kBytes = kMessageWords * sizeof(std::uint64_t);
    ibv_sge piece{.addr = address() + id * kBytes, .length = kBytes, .lkey = mr->lkey};
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ibv_srq* const shared = queue != nullptr ? queue : qp->srq;
    ASSERT_EQ(shared != nullptr ? ibv_post_srq_recv(shared, &request, &bad)
                                : ibv_post_recv(qp, &request, &bad),
              0);
  }
  /// `change`: whatever the operation wants besides.
  template <class Change>
  void post(ibv_wr_opcode opcode, std::uint64_t id, std::uint32_t length, Change change) {
    ibv_sge piece{.addr = address(), .length = length, .lkey = mr->lkey};
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = &piece;
    request.num_sge = length != 0 ? 1 : 0;
    change(request);
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  }
  void post(ibv_wr_opcode opcode, std::uint64_t id, std::uint32_t length) {
    post(opcode, id, length, [](ibv_send_wr&) {});
  }
  void access(ibv_wr_opcode opcode, const End& peer, std::uint32_t key) {
    post(opcode, 1, 8, [&](ibv_send_wr& request) {
      request.wr.rdma.remote_addr = peer.address();
      request.wr.rdma.rkey = key;
    });
  }
  void add(const End& peer, std::uint64_t amount) {
    post(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, [&](ibv_send_wr& request) {
      request.wr.atomic.remote_addr = peer.address();
      request.wr.atomic.rkey = peer.mr->rkey;
      request.wr.atomic.compare_add = amount;
    });
  }
  std::vector<ibv_wc> poll() {
    std::vector<ibv_wc> all(64);
    all.resize(static_cast<std::size_t>(ibv_poll_cq(cq, 64, all.data())));
    return all;
  }
  Statuses statuses() {
    Statuses all;
    for (const ibv_wc& completion : poll()) all.push_back(completion.status);
    return all;
  }
  std::vector<std::uint64_t> ids() {
    std::vector<std::uint64_t> all;
    for (const ibv_wc& completion : poll()) all.push_back(completion.wr_id);
    return all;
  }
  ibv_event_type next_event() {
    const ibv_async_event event = hca().get_async_event(context).value();
    hca().ack_async_event(event);
    return event.event_type;
  }

 private:
  Host& host_;

 public:
  static constexpr std::size_t kMessageWords = 128;
  std::array<std::uint64_t, 8 * kMessageWords> words{};
  ibv_context* context;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  ibv_srq* queue = nullptr;  ///< of an extended connection
};

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
  for (const std::uint64_t id : {1u, 2u}) send_to(number, id);
  world.run_for(1s);

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
  server.post(IBV_WR_BIND_MW, 1, 0, [&](ibv_send_wr& request) {
    request.bind_mw = {.mw = window,
                       .rkey = key,
                       .bind_info = {.mr = server.mr,
                                     .addr = server.address(),
                                     .length = 64,
                                     .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
  });
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
