#include <infiniband/verbs.h>

#include <array>
#include <vector>

#include "verbs/c_api/testing/software_device.h"

namespace anyrdma::c_api {
namespace {

/// The device opened, a domain, and memory that both sides of a loop use.
class Extended : public testing::SoftwareDevice {
 protected:
  Extended() {
    ibv_device** list = ibv_get_device_list(nullptr);
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    pd = ibv_alloc_pd(context);
    region = ibv_reg_mr(pd, bytes.data(), bytes.size(),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    errno = 0;
  }
  ~Extended() override { EXPECT_EQ(ibv_close_device(context), 0); }

  ibv_cq_ex* make_cq(std::uint64_t fields, int depth = 16, std::uint32_t flags = 0) {
    ibv_cq_init_attr_ex init{};
    init.cqe = static_cast<std::uint32_t>(depth);
    init.wc_flags = fields;
    init.comp_mask = flags != 0 ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0;
    init.flags = flags;
    return ibv_create_cq_ex(context, &init);
  }

  ibv_qp_init_attr_ex qp_attributes(ibv_cq* cq, std::uint64_t operations,
                                    ibv_qp_type type = IBV_QPT_RC) {
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 64};
    init.qp_type = type;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.pd = pd;
    init.send_ops_flags = operations;
    return init;
  }

  // Connected to itself, with packets that take no time.
  ibv_qp* make_qp(ibv_cq* cq, std::uint64_t operations) {
    ibv_qp_init_attr_ex init = qp_attributes(cq, operations);
    ibv_qp* qp = ibv_create_qp_ex(context, &init);
    if (qp != nullptr) connect(qp);
    return qp;
  }

  void connect(ibv_qp* qp) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    ASSERT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              0);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = qp->qp_num;
    attr.max_dest_rd_atomic = 1;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.sgid_index = 1;
    ASSERT_EQ(ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid), 0);
    ASSERT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              0);
    attr.qp_state = IBV_QPS_RTS;
    attr.max_rd_atomic = 1;
    ASSERT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
              0);
  }

  void run() {
    verbs::CriticalSection section(runtime);
    while (auto packet = hca->next_packet()) hca->on_packet(verbs::Instant{}, std::move(packet));
  }

  void receive(ibv_qp* qp, std::uint64_t id) {
    ibv_sge piece{.addr = address(512), .length = 64, .lkey = region->lkey};
    ibv_recv_wr request{.wr_id = id, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &request, &bad), 0);
  }

  std::uint64_t address(std::size_t offset) {
    return reinterpret_cast<std::uintptr_t>(bytes.data() + offset);
  }

  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  std::array<char, 1024> bytes{};
  ibv_mr* region = nullptr;
};

using CqEx = Extended;
using QpEx = Extended;
using Domains = Extended;

constexpr std::uint64_t kStandard =
    IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
    IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS;
constexpr std::uint64_t kSends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                                 IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;

// --- completion queues --------------------------------------------------------------------------

TEST_F(CqEx, GivesTheFieldsOfOneCompletionAfterAnother) {
  ibv_cq_ex* cq = make_cq(kStandard | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
  ibv_qp* qp = make_qp(ibv_cq_ex_to_cq(cq), kSends);
  ASSERT_NE(qp, nullptr);
  receive(qp, 7);
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(qp);
  ibv_wr_start(ex);
  ex->wr_id = 8;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send_imm(ex, htobe32(42));
  ibv_wr_set_inline_data(ex, bytes.data(), 5);
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  run();

  ibv_poll_cq_attr none{};
  ASSERT_EQ(ibv_start_poll(cq, &none), 0);
  EXPECT_EQ(cq->wr_id, 7u);
  EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
  EXPECT_EQ(ibv_wc_read_byte_len(cq), 5u);
  EXPECT_EQ(ibv_wc_read_imm_data(cq), htobe32(42));
  EXPECT_EQ(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
  EXPECT_EQ(ibv_wc_read_completion_ts(cq),
            static_cast<std::uint64_t>(runtime.now().time_since_epoch().count()));
  ASSERT_EQ(ibv_next_poll(cq), 0);
  EXPECT_EQ(cq->wr_id, 8u);
  EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_SEND);
  EXPECT_EQ(ibv_next_poll(cq), ENOENT);
  ibv_end_poll(cq);
  EXPECT_EQ(ibv_start_poll(cq, &none), ENOENT);
  EXPECT_EQ(ibv_start_poll(cq, &none), ENOENT);  // which had nothing to end
}

TEST_F(CqEx, HasNoFunctionForAFieldThatNobodyAskedFor) {
  ibv_cq_ex* cq = make_cq(IBV_WC_EX_WITH_BYTE_LEN);

  EXPECT_NE(cq->read_byte_len, nullptr);
  EXPECT_NE(cq->read_opcode, nullptr);
  EXPECT_EQ(cq->read_imm_data, nullptr);
  EXPECT_EQ(cq->read_completion_ts, nullptr);
  EXPECT_EQ(cq->read_tm_info, nullptr);
}

TEST_F(CqEx, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(make_cq(IBV_WC_EX_WITH_TM_INFO), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(make_cq(0, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(make_cq(0, 4, 1 << 5), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_cq_init_attr_ex init{};
  init.cqe = 1;
  init.comp_mask = 1 << 7;
  EXPECT_EQ(ibv_create_cq_ex(context, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  init.parent_domain = pd;  // a protection domain, no parent domain
  EXPECT_EQ(ibv_create_cq_ex(context, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_poll_cq_attr unknown{.comp_mask = 1};
  EXPECT_EQ(ibv_start_poll(make_cq(0), &unknown), EINVAL);
}

TEST_F(CqEx, LosesTheOldestCompletionWhereOverrunIsToBeIgnored) {
  ibv_cq_ex* cq = make_cq(0, 1, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
  ibv_qp* qp = make_qp(ibv_cq_ex_to_cq(cq), kSends);
  receive(qp, 1);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  receive(qp, 2);

  ASSERT_EQ(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);

  ASSERT_EQ(ibv_start_poll(cq, nullptr), 0);
  EXPECT_EQ(cq->wr_id, 2u);
  EXPECT_EQ(cq->status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_next_poll(cq), ENOENT);
  ibv_end_poll(cq);
}

TEST_F(CqEx, ForgetsTimestampsWithTheCompletionsOfADestroyedQueuePair) {
  ibv_cq_ex* cq = make_cq(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
  ibv_qp* gone = make_qp(ibv_cq_ex_to_cq(cq), kSends);
  ibv_qp* stays = make_qp(ibv_cq_ex_to_cq(cq), kSends);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  receive(gone, 1);
  ASSERT_EQ(ibv_modify_qp(gone, &error, IBV_QP_STATE), 0);
  runtime.time += std::chrono::seconds(1);
  receive(stays, 2);
  ASSERT_EQ(ibv_modify_qp(stays, &error, IBV_QP_STATE), 0);

  ASSERT_EQ(ibv_destroy_qp(gone), 0);

  ASSERT_EQ(ibv_start_poll(cq, nullptr), 0);
  EXPECT_EQ(cq->wr_id, 2u);
  EXPECT_EQ(ibv_wc_read_completion_wallclock_ns(cq),
            static_cast<std::uint64_t>(runtime.now().time_since_epoch().count()));
  ibv_end_poll(cq);
}

TEST_F(CqEx, ResizesButNotBelowWhatItHolds) {
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_qp* qp = make_qp(cq, kSends);
  receive(qp, 1);
  receive(qp, 2);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);

  EXPECT_EQ(ibv_resize_cq(cq, 1), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq, 0), EINVAL);
  EXPECT_EQ(ibv_resize_cq(nullptr, 1), EINVAL);
  EXPECT_EQ(cq->cqe, 4);
  EXPECT_EQ(ibv_resize_cq(cq, 2), 0);
  EXPECT_EQ(cq->cqe, 2);
}

TEST_F(CqEx, TakesModeration) {
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_modify_cq_attr attr{.attr_mask = IBV_CQ_ATTR_MODERATE,
                          .moderate = {.cq_count = 8, .cq_period = 10}};
  EXPECT_EQ(ibv_modify_cq(cq, &attr), 0);
  attr.attr_mask = 1 << 6;
  EXPECT_EQ(ibv_modify_cq(cq, &attr), EINVAL);
}

// --- queue pairs --------------------------------------------------------------------------------

TEST_F(QpEx, PostsAllThatABracketHasCollected) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, kSends));
  ASSERT_NE(qp, nullptr);
  std::copy_n("abcdef", 6, bytes.data());
  ibv_sge pieces[2] = {{.addr = address(0), .length = 2, .lkey = region->lkey},
                       {.addr = address(4), .length = 2, .lkey = region->lkey}};
  char inline_data[] = "xy";
  ibv_data_buf buffers[2] = {{.addr = inline_data, .length = 1},
                             {.addr = inline_data + 1, .length = 1}};

  ibv_wr_start(qp);
  qp->wr_id = 1;
  qp->wr_flags = 0;
  ibv_wr_rdma_write(qp, region->rkey, address(100));
  ibv_wr_set_sge_list(qp, 2, pieces);
  qp->wr_id = 2;
  qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(qp, region->rkey, address(104));
  ibv_wr_set_inline_data_list(qp, 2, buffers);
  inline_data[0] = inline_data[1] = '-';  // what was set is not looked at again
  qp->wr_id = 3;
  ibv_wr_rdma_read(qp, region->rkey, address(100));
  ibv_wr_set_sge(qp, region->lkey, address(200), 6);
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  run();

  EXPECT_EQ(std::string(bytes.data() + 100, 6), "abefxy");
  EXPECT_EQ(std::string(bytes.data() + 200, 6), "abefxy");
  std::array<ibv_wc, 4> completions{};
  ASSERT_EQ(ibv_poll_cq(cq, 4, completions.data()), 2);
  EXPECT_EQ(completions[0].wr_id, 2u);
  EXPECT_EQ(completions[1].wr_id, 3u);
}

TEST_F(QpEx, PostsNothingWhenOneOfThemCannotBe) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, kSends));
  qp->wr_flags = IBV_SEND_SIGNALED;

  ibv_wr_start(qp);
  ibv_wr_rdma_write(qp, region->rkey, address(100));
  ibv_wr_set_sge(qp, region->lkey, address(0), 1);
  ibv_wr_rdma_write(qp, region->rkey, address(100));
  for (int i = 0; i < 3; ++i) ibv_wr_set_sge(qp, region->lkey, address(0), 1);  // of two
  EXPECT_EQ(ibv_wr_complete(qp), EINVAL);

  ibv_wr_start(qp);
  for (int i = 0; i < 5; ++i) ibv_wr_rdma_write(qp, region->rkey, address(100));  // of four
  EXPECT_EQ(ibv_wr_complete(qp), ENOMEM);

  run();
  ibv_wc completion{};
  EXPECT_EQ(ibv_poll_cq(cq, 1, &completion), 0);
}

TEST_F(QpEx, ForgetsAnAbortedBracket) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, kSends));
  ibv_wr_start(qp);
  ibv_wr_rdma_write(qp, region->rkey, address(100));
  ibv_wr_abort(qp);

  ibv_wr_start(qp);
  EXPECT_EQ(ibv_wr_complete(qp), 0);
  run();
  ibv_wc completion{};
  EXPECT_EQ(ibv_poll_cq(cq, 1, &completion), 0);
}

TEST_F(QpEx, SpoilsABracketThatMakesNoSense) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, kSends));

  ibv_wr_start(qp);
  ibv_wr_set_sge(qp, region->lkey, address(0), 1);  // of nothing
  EXPECT_EQ(ibv_wr_complete(qp), EINVAL);

  ibv_wr_start(qp);
  ibv_wr_send(qp);
  ibv_wr_set_inline_data(qp, nullptr, 4);
  EXPECT_EQ(ibv_wr_complete(qp), EINVAL);
}

TEST_F(QpEx, HasOnlyTheFunctionsThatWereAskedFor) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, IBV_QP_EX_WITH_SEND));

  EXPECT_NE(qp->wr_send, nullptr);
  EXPECT_EQ(qp->wr_send_imm, nullptr);
  EXPECT_EQ(qp->wr_rdma_write, nullptr);
  EXPECT_EQ(qp->wr_atomic_cmp_swp, nullptr);
  EXPECT_EQ(qp->wr_atomic_write, nullptr);
  EXPECT_EQ(qp->wr_set_ud_addr, nullptr);
}

TEST_F(QpEx, IsNoneUnlessAskedFor) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp* extended = make_qp(cq, kSends);
  ASSERT_EQ(ibv_destroy_qp(extended), 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;

  EXPECT_EQ(ibv_qp_to_qp_ex(ibv_create_qp(pd, &init)), nullptr);
  EXPECT_EQ(ibv_qp_to_qp_ex(nullptr), nullptr);
}

TEST_F(QpEx, RefusesOperationsThatTheTypeDoesNotDo) {
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  const auto error_of = [&](ibv_qp_type type, std::uint64_t operations) {
    ibv_qp_init_attr_ex init = qp_attributes(cq, operations, type);
    errno = 0;
    EXPECT_EQ(ibv_create_qp_ex(context, &init), nullptr);
    return errno;
  };

  EXPECT_EQ(error_of(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE), EOPNOTSUPP);
  EXPECT_EQ(error_of(IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ), EOPNOTSUPP);
  EXPECT_EQ(error_of(IBV_QPT_RC, IBV_QP_EX_WITH_TSO), EOPNOTSUPP);
  EXPECT_EQ(error_of(IBV_QPT_RC, std::uint64_t{1} << 40), EINVAL);
}

// --- domains, clock -----------------------------------------------------------------------------

TEST_F(Domains, ObjectsOfAParentDomainBelongToItsProtectionDomain) {
  ibv_td_init_attr of_thread{};
  ibv_td* td = ibv_alloc_td(context, &of_thread);
  ASSERT_NE(td, nullptr);
  ibv_parent_domain_init_attr init{};
  init.pd = pd;
  init.td = td;
  ibv_pd* parent = ibv_alloc_parent_domain(context, &init);
  ASSERT_NE(parent, nullptr);

  std::swap(pd, parent);
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(make_qp(cq, kSends));  // the memory is of the other one
  std::swap(pd, parent);
  bytes[0] = 'p';
  ibv_wr_start(qp);
  ibv_wr_rdma_write(qp, region->rkey, address(100));
  ibv_wr_set_sge(qp, region->lkey, address(0), 1);
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  run();

  EXPECT_EQ(bytes[100], 'p');
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

TEST_F(Domains, ParentIsAskedForWithSense) {
  ibv_parent_domain_init_attr init{};
  const auto error_of = [&] {
    errno = 0;
    EXPECT_EQ(ibv_alloc_parent_domain(context, &init), nullptr);
    return errno;
  };
  EXPECT_EQ(error_of(), EINVAL);  // of nothing
  init.pd = pd;
  init.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;  // and there are none
  EXPECT_EQ(error_of(), EINVAL);
  init.comp_mask = 1 << 9;
  EXPECT_EQ(error_of(), EINVAL);
  init.comp_mask = 1 << 2;  // memory that is not encrypted, in rdma-core 65
  EXPECT_EQ(error_of(), EOPNOTSUPP);
  ibv_td_init_attr unknown{.comp_mask = 1};
  EXPECT_EQ(ibv_alloc_td(context, &unknown), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Domains, DeviceTellsItsClock) {
  runtime.time += std::chrono::microseconds(3);
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  ASSERT_EQ(ibv_query_rt_values_ex(context, &values), 0);
  EXPECT_EQ(values.raw_clock.tv_nsec, runtime.now().time_since_epoch().count());
  values.comp_mask = 1 << 4;
  EXPECT_EQ(ibv_query_rt_values_ex(context, &values), EINVAL);

  ibv_device_attr_ex attr{};
  ASSERT_EQ(ibv_query_device_ex(context, nullptr, &attr), 0);
  EXPECT_EQ(attr.hca_core_clock, 1'000'000u);
  EXPECT_EQ(attr.completion_timestamp_mask, ~std::uint64_t{0});
  EXPECT_EQ(attr.tso_caps.max_tso, 0u);
  EXPECT_EQ(attr.rss_caps.supported_qpts, 0u);
}

}  // namespace
}  // namespace anyrdma::c_api
