#include "sim/testing/end.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "sim/testing/audit.h"
#include "verbs/provider.h"

namespace anyrdma::sim::testing {

End::End(Host& host) : host_(host), context(hca().open_device(hca().device()).value()) {
  require_audit();
  pd = hca().alloc_pd(context).value();
  cq = hca().create_cq(context, 64, nullptr, nullptr, 0).value();
  constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                            IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  mr = hca().reg_mr(pd, words.data(), sizeof words, address(), kAll).value();
}

End::~End() {
  (void)hca().close_device(context);
}

// --- objects ------------------------------------------------------------------------------------

void End::make_qp(ibv_qp_type type, ibv_srq* srq) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.srq = srq;
  init.qp_type = type;
  init.cap = {16, 16, 1, 1, 0};
  qp = hca().create_qp(pd, &init).value();
}

ibv_srq* End::make_srq() {
  ibv_srq_init_attr init{.srq_context = nullptr,
                         .attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0}};
  return hca().create_srq(pd, &init).value();
}

std::uint32_t End::make_receiver() {
  ibv_xrcd_init_attr of_domain{
      .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
  ibv_xrcd* const domain = ibv_open_xrcd(context, &of_domain);
  ibv_srq_init_attr_ex of_queue{};
  of_queue.attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0};
  of_queue.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
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

void End::connect(const End& peer) {
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
  attr.ah_attr.port_num = attr.port_num;
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

void End::modify(ibv_qp_state state, int mask, ibv_qp_attr attr) {
  attr.qp_state = state;
  ASSERT_TRUE(hca().modify_qp(qp, &attr, mask | IBV_QP_STATE)) << state;
}

// --- work ---------------------------------------------------------------------------------------

void End::post_receive(std::uint64_t id) {
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

void End::post(ibv_wr_opcode opcode, std::uint64_t id, std::uint32_t length, const Change& change) {
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

void End::access(ibv_wr_opcode opcode, const End& peer, std::uint32_t key) {
  post(opcode, 1, 8, [&](ibv_send_wr& request) {
    request.wr.rdma.remote_addr = peer.address();
    request.wr.rdma.rkey = key;
  });
}

void End::add(const End& peer, std::uint64_t amount) {
  post(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, [&](ibv_send_wr& request) {
    request.wr.atomic.remote_addr = peer.address();
    request.wr.atomic.rkey = peer.mr->rkey;
    request.wr.atomic.compare_add = amount;
  });
}

void End::swap(const End& peer, std::uint64_t expected, std::uint64_t wanted) {
  post(IBV_WR_ATOMIC_CMP_AND_SWP, 1, 8, [&](ibv_send_wr& request) {
    request.wr.atomic.remote_addr = peer.address();
    request.wr.atomic.rkey = peer.mr->rkey;
    request.wr.atomic.compare_add = expected;
    request.wr.atomic.swap = wanted;
  });
}

void End::bind(ibv_mw* window, std::uint32_t key) {
  post(IBV_WR_BIND_MW, 1, 0, [&](ibv_send_wr& request) {
    request.bind_mw = {
        .mw = window,
        .rkey = key,
        .bind_info = {
            .mr = mr, .addr = address(), .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
  });
}

// --- what comes of it ---------------------------------------------------------------------------

std::vector<ibv_wc> End::poll() {
  std::vector<ibv_wc> all(64);
  all.resize(static_cast<std::size_t>(ibv_poll_cq(cq, 64, all.data())));
  return all;
}

Statuses End::statuses() {
  Statuses all;
  for (const ibv_wc& completion : poll()) all.push_back(completion.status);
  return all;
}

std::vector<std::uint64_t> End::ids() {
  std::vector<std::uint64_t> all;
  for (const ibv_wc& completion : poll()) all.push_back(completion.wr_id);
  return all;
}

ibv_event_type End::next_event() {
  const ibv_async_event event = hca().get_async_event(context).value();
  hca().ack_async_event(event);
  return event.event_type;
}

}  // namespace anyrdma::sim::testing
