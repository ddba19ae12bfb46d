// What a fault plan does to a software HCA: calls that fail, work that ends in error, queue pairs
// and completion queues that fail by themselves.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/soft/testing/pair.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;
using verbs::testing::errno_of;
using EventTypes = std::vector<ibv_event_type>;
using Statuses = std::vector<ibv_wc_status>;

class FakeGate : public CallGate {
 public:
  int on_call(std::uint64_t, std::string_view call) override {
    calls.emplace_back(call);
    const auto found = errors.find(std::string(call));
    return found == errors.end() ? 0 : found->second;
  }
  ibv_wc_status on_work(const PostedWork& work) override {
    posted.push_back(work);
    return work.opcode == opcode && ++seen == which ? status : IBV_WC_SUCCESS;
  }
  void on_failure(const ibv_wc& completion) override { failures.push_back(completion.wr_id); }
  void on_take() override { ++takes; }

  std::map<std::string, int> errors;
  std::vector<std::string> calls;
  std::vector<PostedWork> posted;
  std::vector<std::uint64_t> failures;  ///< their wr_id
  ibv_wc_opcode opcode = IBV_WC_SEND;
  int which = 0;
  int seen = 0;
  int takes = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
};

class Gated : public Pair {
 protected:
  ~Gated() override {
    for (Side* side : {&a, &b}) side->hca->set_call_gate(nullptr);
  }
  /// From now on a's n-th work of this kind ends so.
  void spoil(Side& side, ibv_wc_opcode opcode, int which, ibv_wc_status status) {
    gate.opcode = opcode;
    gate.which = which;
    gate.status = status;
    side.hca->set_call_gate(&gate);
  }
  static Statuses statuses(Side& side) {
    Statuses all;
    for (const ibv_wc& wc : side.poll()) all.push_back(wc.status);
    return all;
  }
  void send_three() {
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_EQ(b.post_recv(id, 0, 100), 0);
      ASSERT_EQ(a.post_send(IBV_WR_SEND, id, 0, 10), 0);
    }
    settle();
  }

  FakeGate gate;
};

TEST_F(Gated, EveryCallCanFailWithoutAnyEffect) {
  connect();
  a.hca->set_call_gate(&gate);
  ibv_qp_init_attr qp{};
  qp.send_cq = qp.recv_cq = a.cq;
  qp.qp_type = IBV_QPT_RC;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ibv_srq_init_attr srq{.srq_context = nullptr,
                        .attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0}};
  const std::map<std::string, std::function<int()>> calls{
      {"open_device", [&] { return errno_of(a.hca->open_device(a.hca->device())); }},
      {"alloc_pd", [&] { return errno_of(a.hca->alloc_pd(a.context)); }},
      {"reg_mr", [&] { return errno_of(a.hca->reg_mr(a.pd, &qp, 1, 0, 0)); }},
      {"create_comp_channel", [&] { return errno_of(a.hca->create_comp_channel(a.context)); }},
      {"create_cq", [&] { return errno_of(a.hca->create_cq(a.context, 1, nullptr, nullptr, 0)); }},
      {"create_qp", [&] { return errno_of(a.hca->create_qp(a.pd, &qp)); }},
      {"modify_qp", [&] { return errno_of(a.hca->modify_qp(a.qp, &attr, IBV_QP_STATE)); }},
      {"create_srq", [&] { return errno_of(a.hca->create_srq(a.pd, &srq)); }},
      {"create_ah", [&] { return errno_of(a.hca->create_ah(a.pd, {})); }},
      {"post_send", [&] { return a.post_send(IBV_WR_SEND, 1, 0, 1); }},
      {"post_recv", [&] { return a.post_recv(1, 0, 1); }}};
  for (const auto& [name, call] : calls) {
    gate.errors = {{name, EFAULT}};  // no call gives it here
    EXPECT_EQ(call(), EFAULT) << name;
  }
  gate.errors.clear();

  send_three();

  EXPECT_EQ(statuses(a), Statuses(3, IBV_WC_SUCCESS));
  EXPECT_EQ(statuses(b), Statuses(3, IBV_WC_SUCCESS));
}

TEST_F(Gated, WithoutAGateNobodyIsAsked) {
  connect();
  a.hca->set_call_gate(&gate);
  a.hca->set_call_gate(nullptr);
  send_three();
  EXPECT_TRUE(gate.calls.empty());
  EXPECT_TRUE(gate.posted.empty());
}

TEST_F(Gated, PollingTellsASlowProgram) {
  connect();
  a.hca->set_call_gate(&gate);
  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(gate.takes, 1);
}

TEST_F(Gated, WhoeverIsStillCallingWhenThePlanEndsGoesOnWithoutIt) {
  connect();
  spoil(a, IBV_WC_SEND, 1, IBV_WC_LOC_PROT_ERR);
  b.hca->set_call_gate(&gate);
  const ibv_context_ops of_a = a.context->ops;
  const ibv_context_ops of_b = b.context->ops;
  for (Side* side : {&a, &b}) side->hca->set_call_gate(nullptr);

  ibv_sge piece = b.piece(0, 100);
  ibv_recv_wr receive{};
  receive.wr_id = 7;
  receive.sg_list = &piece;
  receive.num_sge = 1;
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(of_b.post_recv(b.qp, &receive, &bad_receive), 0);
  ibv_sge message = a.piece(0, 10);
  ibv_send_wr send{};
  send.sg_list = &message;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad_send = nullptr;
  EXPECT_EQ(of_a.post_send(a.qp, &send, &bad_send), 0);
  settle();
  ibv_wc wc{};
  EXPECT_EQ(of_a.poll_cq(a.cq, 1, &wc), 1);
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(of_b.poll_cq(b.cq, 1, &wc), 1);
  EXPECT_EQ(wc.wr_id, 7u);
  EXPECT_TRUE(gate.posted.empty());
}

TEST_F(Gated, ASpoiledSendFailsInItsTurnAndTheRestIsFlushed) {
  connect();
  spoil(a, IBV_WC_SEND, 2, IBV_WC_RETRY_EXC_ERR);
  send_three();
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(a.qp->state, IBV_QPS_ERR);
  EXPECT_EQ(gate.failures, (std::vector<std::uint64_t>{2, 3}));
  // Of what was lost the peer knows nothing.
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Gated, ASpoiledSendOfAnEmptyQueueFailsAtOnce) {
  connect();
  spoil(a, IBV_WC_SEND, 1, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10, nullptr, 0, 0), 0);
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_LOC_PROT_ERR});
}

TEST_F(Gated, ASpoiledSendBehindAReadFailsAfterIt) {
  connect();
  spoil(a, IBV_WC_SEND, 1, IBV_WC_RNR_RETRY_EXC_ERR);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 1000, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);
  settle();
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_SUCCESS, IBV_WC_RNR_RETRY_EXC_ERR}));
}

TEST_F(Gated, ARefusedAccessIsThePeersErrorToo) {
  connect();
  spoil(a, IBV_WC_RDMA_WRITE, 1, IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(b.post_recv(7, 0, 100), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(b.events(), EventTypes{IBV_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_WR_FLUSH_ERR});
}

TEST_F(Gated, ARefusedAtomicChangesNothing) {
  ConnectionOptions options;
  options.access |= IBV_ACCESS_REMOTE_ATOMIC;
  connect(options);
  spoil(a, IBV_WC_FETCH_ADD, 1, IBV_WC_REM_ACCESS_ERR);
  const std::vector<std::uint8_t> before = b.memory;
  ibv_sge list = a.piece(64, 8);
  ibv_send_wr request{};
  request.sg_list = &list;
  request.num_sge = 1;
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.wr.atomic.remote_addr = b.piece(0, 0).addr;
  request.wr.atomic.rkey = b.mr->rkey;
  request.wr.atomic.compare_add = 1;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(b.events(), EventTypes{IBV_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(b.memory, before);
}

TEST_F(Gated, EveryKindOfSendCanFailAsNobodyKnowsWhy) {
  const std::vector<std::pair<ibv_wr_opcode, ibv_wc_opcode>> kinds{
      {IBV_WR_SEND, IBV_WC_SEND},
      {IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE},
      {IBV_WR_RDMA_READ, IBV_WC_RDMA_READ},
      {IBV_WR_LOCAL_INV, IBV_WC_LOCAL_INV}};
  for (const auto& [request, completion] : kinds) {
    connect();
    gate.seen = 0;
    spoil(a, completion, 1, IBV_WC_GENERAL_ERR);
    ASSERT_EQ(a.post_send(request, 1, 0, 10, &b, 0), 0);
    settle();
    EXPECT_EQ(statuses(a), Statuses{IBV_WC_GENERAL_ERR});
    EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
    for (Side* side : {&a, &b}) {
      side->hca->destroy_qp(side->qp).value();
      side->qp = nullptr;
    }
  }
}

TEST_F(Gated, OfAnUnreliableConnectionAReceiveInErrorIsTheReceiversAlone) {
  ConnectionOptions options;
  options.type = IBV_QPT_UC;
  connect(options);
  spoil(b, IBV_WC_RECV, 2, IBV_WC_LOC_PROT_ERR);
  send_three();
  EXPECT_EQ(statuses(b), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(statuses(a), Statuses(3, IBV_WC_SUCCESS));
}

TEST_F(Gated, OfAnUnreliableConnectionASpoiledSendIsTheSendersAlone) {
  ConnectionOptions options;
  options.type = IBV_QPT_UC;
  connect(options);
  spoil(a, IBV_WC_SEND, 2, IBV_WC_LOC_LEN_ERR);
  send_three();
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
}

TEST_F(Gated, ASpoiledReceiveIsTheSendersErrorToo) {
  connect();
  spoil(b, IBV_WC_RECV, 2, IBV_WC_LOC_PROT_ERR);
  send_three();
  EXPECT_EQ(statuses(b), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_SUCCESS, IBV_WC_REM_OP_ERR, IBV_WC_WR_FLUSH_ERR}));
}

TEST_F(Gated, AReceiveWithoutRoomIsTheSendersMistake) {
  connect();
  spoil(b, IBV_WC_RECV, 1, IBV_WC_LOC_LEN_ERR);
  send_three();
  EXPECT_EQ(statuses(b).front(), IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(statuses(a).front(), IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(Gated, AQueuePairIsKnownByItsPlaceAmongAll) {
  MadeObjects made{.queue_pairs = 4, .completion_queues = 2};
  a.hca->count_with(made);
  connect();
  EXPECT_EQ(made.queue_pairs, 5u);
  EXPECT_EQ(a.hca->fail_qp({.made = 4}, IBV_EVENT_QP_FATAL).error().value(), ENOENT);
  EXPECT_TRUE(a.hca->fail_qp({.made = 5}, IBV_EVENT_QP_FATAL).has_value());
  EXPECT_EQ(a.events(), EventTypes{IBV_EVENT_QP_FATAL});
}

TEST_F(Gated, AFailingQueuePairFlushesAndItsPeerHearsNothingMore) {
  connect();
  ASSERT_EQ(a.post_recv(7, 0, 100), 0);
  const ObjectName name{.number = a.qp->qp_num};
  ASSERT_TRUE(a.hca->fail_qp(name, IBV_EVENT_QP_ACCESS_ERR).has_value());
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_WR_FLUSH_ERR});
  EXPECT_EQ(a.events(), EventTypes{IBV_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(a.hca->fail_qp(name, IBV_EVENT_QP_FATAL).error().value(), EINVAL);  // in ERR already
  ASSERT_EQ(b.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(Gated, OnlyAWorkingReliableQueuePairHasErrorsOfItsPeersMaking) {
  const ConnectionOptions options;
  a.create_qp(options);
  const ObjectName name{.number = a.qp->qp_num};
  EXPECT_EQ(a.hca->fail_qp(name, IBV_EVENT_QP_FATAL).error().value(), EINVAL);  // RESET
  a.to_init(options);
  EXPECT_EQ(a.hca->fail_qp(name, IBV_EVENT_QP_REQ_ERR).error().value(), EINVAL);
  EXPECT_EQ(a.hca->fail_qp(name, IBV_EVENT_PORT_ERR).error().value(), EINVAL);
  EXPECT_EQ(a.hca->fail_qp({.number = 0x999999}, IBV_EVENT_QP_FATAL).error().value(), ENOENT);
  EXPECT_TRUE(a.hca->fail_qp(name, IBV_EVENT_QP_FATAL).has_value());
}

TEST_F(Gated, AnOverrunTakesTheQueuePairsWithIt) {
  MadeObjects made{.queue_pairs = 0, .completion_queues = 1};
  b.hca->count_with(made);
  ibv_cq* const plain = b.cq;
  b.cq = b.hca->create_cq(b.context, 1, nullptr, nullptr, 0).value();
  connect();
  send_three();  // into room for one
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(b.events(), (EventTypes{IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL}));
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  EXPECT_EQ(b.hca->overrun_cq(2).error().value(), EALREADY);
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;
  b.hca->destroy_cq(b.cq).value();
  b.cq = plain;
}

TEST_F(Gated, AnOverrunOnPurposeIsLikeAnyOther) {
  connect();
  EXPECT_EQ(a.hca->overrun_cq(2).error().value(), ENOENT);
  ASSERT_TRUE(a.hca->overrun_cq(1).has_value());
  settle();
  EXPECT_EQ(a.events(), (EventTypes{IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL}));
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);  // flushed, but who would know
  EXPECT_TRUE(a.poll().empty());
}

}  // namespace
}  // namespace anyrdma::verbs::soft
