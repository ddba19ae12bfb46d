// What may be posted to which type of queue pair in which state, and what a bad request is told.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;

constexpr std::uint32_t kDepth = 4;

class Posting : public Pair, public ::testing::WithParamInterface<ibv_qp_type> {
 protected:
  Posting() {
    options_.type = GetParam();
    options_.cap.max_send_wr = options_.cap.max_recv_wr = kDepth;
    a.create_qp(options_);
    b.create_qp(options_);
    address_ = a.hca->create_ah(a.pd, path()).value();
    list_.fill(a.piece(0, 8));
    request_.sg_list = list_.data();
    request_.num_sge = 1;
    request_.opcode = IBV_WR_SEND;
    request_.send_flags = IBV_SEND_SIGNALED;
    if (is_datagram()) {
      request_.wr.ud = {.ah = address_, .remote_qpn = b.qp->qp_num, .remote_qkey = 1};
    } else {
      request_.wr.rdma = {.remote_addr = b.piece(0, 0).addr, .rkey = b.mr->rkey};
    }
    receive_.sg_list = list_.data();
    receive_.num_sge = 1;
  }
  ~Posting() override { a.hca->destroy_ah(address_).value(); }

  [[nodiscard]] bool is_datagram() const { return GetParam() == IBV_QPT_UD; }
  [[nodiscard]] bool receives() const { return GetParam() != IBV_QPT_XRC_SEND; }

  [[nodiscard]] ibv_ah_attr path() const {
    ibv_ah_attr path{};
    path.is_global = path.port_num = 1;
    path.grh.sgid_index = 1;
    path.grh.dgid = b.gid;
    return path;
  }

  void lead_to(ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qkey = 1;
    if (!is_datagram()) {
      a.to_init(options_);
      if (state != IBV_QPS_INIT) a.to_rtr(options_, b);
      if (state == IBV_QPS_RTS) a.to_rts(options_);
      return;
    }
    ASSERT_EQ(a.modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, attr), 0);
    if (state == IBV_QPS_INIT) return;
    ASSERT_EQ(a.modify(IBV_QPS_RTR, 0, attr), 0);
    if (state == IBV_QPS_RTR) return;
    ASSERT_EQ(a.modify(IBV_QPS_RTS, IBV_QP_SQ_PSN, attr), 0);
  }

  int send(const ibv_send_wr& request) {
    ibv_send_wr copy = request;
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(a.qp, &copy, &bad);
    EXPECT_EQ(bad, error == 0 ? nullptr : &copy);
    return error;
  }
  int receive(const ibv_recv_wr& request) {
    ibv_recv_wr copy = request;
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_recv(a.qp, &copy, &bad);
    EXPECT_EQ(bad, error == 0 ? nullptr : &copy);
    return error;
  }

  ConnectionOptions options_;
  ibv_ah* address_ = nullptr;
  std::array<ibv_sge, 8> list_{};
  ibv_send_wr request_{};
  ibv_recv_wr receive_{};
};

TEST_P(Posting, SendsAreTakenFromReadyToSendOn) {
  EXPECT_EQ(send(request_), EINVAL);
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR}) {
    lead_to(state);
    EXPECT_EQ(send(request_), EINVAL) << state;
    ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  }
  lead_to(IBV_QPS_RTS);
  EXPECT_EQ(send(request_), 0);
  ASSERT_EQ(a.modify(IBV_QPS_SQD, 0, {}), 0);
  EXPECT_EQ(send(request_), 0);
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  EXPECT_EQ(send(request_), 0);
  const std::vector<ibv_wc> flushed = a.poll();
  EXPECT_EQ(flushed.size(), 3u);
  for (const ibv_wc& each : flushed) EXPECT_EQ(each.status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(Posting, ReceivesAreTakenFromInitialisedOn) {
  EXPECT_EQ(receive(receive_), EINVAL);
  lead_to(IBV_QPS_INIT);
  EXPECT_EQ(receive(receive_), receives() ? 0 : EINVAL);
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  EXPECT_EQ(receive(receive_), receives() ? 0 : EINVAL);
  EXPECT_EQ(a.poll().size(), receives() ? 2u : 0u);
}

TEST_P(Posting, AFullQueueIsOutOfMemory) {
  ASSERT_EQ(a.qp->state, IBV_QPS_RESET);
  lead_to(IBV_QPS_RTS);
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    EXPECT_EQ(send(request_), 0);
    EXPECT_EQ(receive(receive_), receives() ? 0 : EINVAL);
  }
  EXPECT_EQ(send(request_), ENOMEM);
  EXPECT_EQ(receive(receive_), receives() ? ENOMEM : EINVAL);
}

TEST_P(Posting, AListMustBeOneAndFit) {
  lead_to(IBV_QPS_RTS);
  for (const int count : {-1, 5, 1000}) {
    ibv_send_wr bad_send = request_;
    bad_send.num_sge = count;
    EXPECT_EQ(send(bad_send), EINVAL) << count;
    ibv_recv_wr bad_receive = receive_;
    bad_receive.num_sge = count;
    EXPECT_EQ(receive(bad_receive), EINVAL) << count;
  }
  ibv_send_wr nothing = request_;
  nothing.sg_list = nullptr;
  EXPECT_EQ(send(nothing), EINVAL);
  ibv_recv_wr nowhere = receive_;
  nowhere.sg_list = nullptr;
  EXPECT_EQ(receive(nowhere), EINVAL);
  // An empty list needs none.
  nothing.num_sge = nowhere.num_sge = 0;
  EXPECT_EQ(send(nothing), 0);
  EXPECT_EQ(receive(nowhere), receives() ? 0 : EINVAL);
}

TEST_P(Posting, AMessageOfMoreThanTwoGigabytesIsRefused) {
  lead_to(IBV_QPS_RTS);
  list_[0].length = list_[1].length = 0x4000'0001;
  request_.num_sge = 2;
  EXPECT_EQ(send(request_), EINVAL);
}

TEST_P(Posting, InlineDataMustFit) {
  lead_to(IBV_QPS_RTS);
  request_.send_flags |= IBV_SEND_INLINE;
  list_[0].length = a.qp == nullptr ? 0 : options_.cap.max_inline_data;
  EXPECT_EQ(send(request_), 0);
  list_[0].length = options_.cap.max_inline_data + 1;
  EXPECT_EQ(send(request_), EINVAL);
}

TEST_P(Posting, FlagsThatNobodyHasDefinedAreRefused) {
  lead_to(IBV_QPS_RTS);
  for (const unsigned flag : {1u << 5, 1u << 20, 1u << 31}) {
    request_.send_flags = flag;
    EXPECT_EQ(send(request_), EINVAL) << flag;
  }
}

TEST_P(Posting, OperationsThatTheServiceDoesNotHaveAreRefused) {
  lead_to(IBV_QPS_RTS);
  std::set<int> offered{IBV_WR_SEND, IBV_WR_SEND_WITH_IMM};
  if (!is_datagram())
    offered.insert(
        {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW});
  if (GetParam() == IBV_QPT_RC || GetParam() == IBV_QPT_XRC_SEND)
    offered.insert({IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
                    IBV_WR_SEND_WITH_INV, /* atomic write */ 15});
  for (int opcode = 0; opcode < 32; ++opcode) {
    if (offered.contains(opcode)) continue;
    request_.opcode = ibv_wr_opcode{};
    std::memcpy(&request_.opcode, &opcode, sizeof opcode);  // not all of them are enumerators
    EXPECT_EQ(send(request_), EINVAL) << opcode;
  }
}

INSTANTIATE_TEST_SUITE_P(Type, Posting,
                         ::testing::Values(IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND),
                         [](const auto& param) {
                           switch (static_cast<int>(param.param)) {
                             case IBV_QPT_UC:
                               return "Uc";
                             case IBV_QPT_UD:
                               return "Ud";
                             case IBV_QPT_XRC_SEND:
                               return "XrcSend";
                           }
                           return "Rc";
                         });

}  // namespace
}  // namespace anyrdma::verbs::soft
