// Completions that only devices of some vendors give (docs/devices.md).
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "verbs/soft/rc_constants.h"
#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;

HcaConfig unusual() {
  HcaConfig config;
  config.flush_with_cause = true;
  config.late_length_error = true;
  return config;
}

class VendorCompletions : public Pair {
 protected:
  VendorCompletions() : Pair(unusual()) {}

  /// Posts a READ or WRITE of a whole region, twice.
  int post_longer_than_any_message(ibv_wr_opcode opcode) {
    std::vector<ibv_sge> list(2, ibv_sge{0, kMessageBytesMax, a.mr->lkey});
    ibv_send_wr request{};
    request.sg_list = list.data();
    request.num_sge = 2;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma = {.remote_addr = b.piece(0, 0).addr, .rkey = b.mr->rkey};
    return a.post(request);
  }
};

class UsualCompletions : public Pair {};

TEST_F(VendorCompletions, TheFirstFlushedReceiveHasTheStatusOfTheRequestThatFailed) {
  connect({.retry_cnt = 1});
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_EQ(a.post_recv(i, 0, 8), 0);
  wire = [](const Packet&) { return 0; };
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 7, 0, 8), 0);
  settle();
  const std::vector<ibv_wc> all = a.poll();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(all[0].wr_id, 7u);
  EXPECT_EQ(all[1].opcode, IBV_WC_RECV);
  EXPECT_EQ(all[1].wr_id, 1u);
  EXPECT_EQ(all[1].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(all[2].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(all[3].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(VendorCompletions, AReceiveIsFlushedAsUsualWhenNoRequestHasFailed) {
  connect();
  ASSERT_EQ(a.post_recv(1, 0, 8), 0);
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  const std::vector<ibv_wc> all = a.poll();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(VendorCompletions, ARequestThatIsTooLongCompletesWithALocalLengthError) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE}) {
    connect();
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 8, &b, 0), 0);
    ASSERT_EQ(post_longer_than_any_message(opcode), 0);
    settle();
    const std::vector<ibv_wc> all = a.poll();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].status, IBV_WC_SUCCESS) << "the request before it is executed";
    EXPECT_EQ(all[1].status, IBV_WC_LOC_LEN_ERR) << opcode;
    EXPECT_EQ(b.qp->state, IBV_QPS_RTS) << "nothing of it is sent";
    for (testing::Side* side : {&a, &b})
      side->hca->destroy_qp(std::exchange(side->qp, nullptr)).value();
  }
}

TEST_F(UsualCompletions, ARequestThatIsTooLongIsRefused) {
  connect();
  std::vector<ibv_sge> list(2, ibv_sge{0, kMessageBytesMax, a.mr->lkey});
  ibv_send_wr request{};
  request.sg_list = list.data();
  request.num_sge = 2;
  request.opcode = IBV_WR_RDMA_READ;
  request.wr.rdma = {.remote_addr = b.piece(0, 0).addr, .rkey = b.mr->rkey};
  EXPECT_EQ(a.post(request), EINVAL);
}

TEST_F(UsualCompletions, EveryReceiveIsFlushedAlike) {
  connect({.retry_cnt = 0});
  ASSERT_EQ(a.post_recv(1, 0, 8), 0);
  wire = [](const Packet&) { return 0; };
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 7, 0, 8), 0);
  settle();
  const std::vector<ibv_wc> all = a.poll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(all[1].status, IBV_WC_WR_FLUSH_ERR);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
