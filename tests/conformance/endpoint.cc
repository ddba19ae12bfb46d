#include "tests/conformance/endpoint.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

constexpr std::uint8_t kTimeout = 14;          // 67 ms
constexpr std::uint8_t kRnrTimer = 12;         // 0.64 ms
constexpr std::uint32_t kFirstPsn = 0xfffffe;  // wraps around soon
constexpr std::uint32_t kGids = 64;            // more than any backend's table has

/// An IPv4 address as RoCE v2 has it.
ibv_gid gid_of(const sockaddr& address) {
  const auto& four = reinterpret_cast<const sockaddr_in&>(address);
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(gid.raw + 12, &four.sin_addr, sizeof four.sin_addr);
  return gid;
}

std::string type_text(ibv_qp_type type) {
  if (type == IBV_QPT_RC) return "RC";
  if (type == IBV_QPT_UC) return "UC";
  if (type == IBV_QPT_UD) return "UD";
  if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV) return "XRC";
  return "type " + std::to_string(type);
}

Place own_place(const Party& party) {
  return any_port(party.side() == Side::kPassive ? kServer : kClient);
}

}  // namespace

bool Endpoint::done(std::string_view what, int error) {
  if (error != 0) note_call(std::string(what), error);
  return error == 0;
}

template <class Object>
bool Endpoint::made(std::string_view what, const Object& object) {
  return done(what, object ? 0 : calls().last_error());
}

Endpoint::Endpoint(Party& party, const EndpointOptions& options)
    : party_(party), options_(options), name_(party.take_name()) {
  ready_ = open() && make_domains() && make_queues() && make_qp();
}

Endpoint::~Endpoint() {
  for (Window& each : windows_) {
    if (each.mw != nullptr) (void)ibv_dealloc_mw(each.mw);
  }
  qp_.reset();
  if (ah_ != nullptr) (void)calls().verbs.destroy_ah(ah_);
  if (srq_ != nullptr) (void)calls().verbs.destroy_srq(srq_);
  if (domain_ != nullptr) (void)ibv_close_xrcd(domain_);
}

// --- making -------------------------------------------------------------------------------------

bool Endpoint::open() {
  rdma_event_channel* const channel = party_.channel();
  const Calls& calls = this->calls();
  rdma_cm_id* id = nullptr;
  if (!done("create_id()", calls.error_of(calls.cm.create_id(channel, &id, nullptr, RDMA_PS_TCP))))
    return false;
  id_ = {id, calls.cm.destroy_id};
  const Address own = party_.stage().address(own_place(party_));
  if (!done("bind()", calls.error_of(calls.cm.bind_addr(id, own.get())))) return false;
  context_ = id->verbs;
  port_ = id->port_num;
  make_nonblocking(context_->async_fd);
  gid_ = gid_of(*own.get());
  for (std::uint32_t i = 0; i < kGids; ++i) {
    ibv_gid_entry entry{};
    if (calls.verbs.query_gid_ex(context_, port_, i, &entry, 0, sizeof entry) != 0) continue;
    if (std::memcmp(&entry.gid, &gid_, sizeof gid_) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    gid_index_ = static_cast<std::uint8_t>(i);
    return true;
  }
  note("has no GID");
  return false;
}

bool Endpoint::make_domains() {
  const Calls& calls = this->calls();
  pd_ = {calls.verbs.alloc_pd(context_), calls.verbs.dealloc_pd};
  if (!made("alloc_pd()", pd_)) return false;
  if (!options_.parent) return true;
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_.get();
  parent_ = {ibv_alloc_parent_domain(context_, &attr), calls.verbs.dealloc_pd};
  return made("alloc_parent_domain()", parent_);
}

bool Endpoint::make_queues() {
  const Calls::Verbs& verbs = calls().verbs;
  region_ = {
      verbs.reg_mr(pd_.get(), memory_->data(), memory_->size(), static_cast<int>(options_.memory)),
      verbs.dereg_mr};
  if (!made("reg_mr()", region_)) return false;
  if (options_.announced) {
    channel_ = {verbs.create_comp_channel(context_), verbs.destroy_comp_channel};
    if (!made("create_comp_channel()", channel_)) return false;
    make_nonblocking(channel_.get()->fd);
  }
  const int depth = static_cast<int>(options_.completions);
  send_cq_ = {verbs.create_cq(context_, depth, nullptr, nullptr, 0), verbs.destroy_cq};
  if (!made("create_cq()", send_cq_)) return false;
  if (options_.wc_fields != 0) return make_cq_ex();
  recv_cq_ = {verbs.create_cq(context_, depth, nullptr, channel_.get(), 0), verbs.destroy_cq};
  return made("create_cq()", recv_cq_);
}

bool Endpoint::make_cq_ex() {
  ibv_cq_init_attr_ex attr{};
  attr.cqe = options_.completions;
  attr.channel = channel_.get();
  attr.wc_flags = options_.wc_fields;
  cq_ex_ = ibv_create_cq_ex(context_, &attr);
  if (cq_ex_ == nullptr) {
    note_call("create_cq_ex()", calls().last_error());
    return false;
  }
  recv_cq_ = {ibv_cq_ex_to_cq(cq_ex_), calls().verbs.destroy_cq};
  return true;
}

bool Endpoint::make_shared_receives() {
  ibv_srq_init_attr attr{};
  attr.attr = {.max_wr = options_.requests, .max_sge = 1, .srq_limit = 0};
  srq_ = calls().verbs.create_srq(pd_.get(), &attr);
  return made("create_srq()", srq_);
}

/// A domain, and a queue in it that messages name.
bool Endpoint::make_extended_receives() {
  ibv_xrcd_init_attr domain{
      .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
  domain_ = ibv_open_xrcd(context_, &domain);
  if (domain_ == nullptr) {
    note_call("open_xrcd()", calls().last_error());
    return false;
  }
  ibv_srq_init_attr_ex attr{};
  attr.attr = {.max_wr = options_.requests, .max_sge = 1, .srq_limit = 0};
  attr.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  attr.srq_type = IBV_SRQT_XRC;
  attr.pd = pd_.get();
  attr.xrcd = domain_;
  attr.cq = recv_cq_.get();
  const verbs_context* const extended =
      __extension__ verbs_get_ctx_op(context_, create_srq_ex);  // a GNU expression
  srq_ = extended == nullptr ? nullptr : extended->create_srq_ex(context_, &attr);
  if (srq_ == nullptr)
    note_call("create_srq_ex()", extended == nullptr ? EOPNOTSUPP : calls().last_error());
  return srq_ != nullptr;
}

std::uint32_t Endpoint::srq_number() const {
  std::uint32_t number = 0;
  if (srq_ != nullptr) (void)ibv_get_srq_num(srq_, &number);
  return number;
}

bool Endpoint::make_qp() {
  const bool is_xrc_receiver = options_.type == IBV_QPT_XRC_RECV;
  if (options_.shared_receives && !make_shared_receives()) return false;
  if (is_xrc_receiver && !make_extended_receives()) return false;
  const std::uint32_t receives = srq_ != nullptr ? 0 : options_.requests;
  ibv_pd* const pd = parent_ ? parent_.get() : pd_.get();
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = options_.type;
  attr.sq_sig_all = options_.signal_all ? 1 : 0;
  if (is_xrc_receiver) {
    attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    attr.xrcd = domain_;
  } else {
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.pd = pd;
    attr.send_ops_flags = options_.wr_calls;
    attr.send_cq = send_cq_.get();
    attr.recv_cq = recv_cq_.get();
    attr.srq = srq_;
    attr.cap = {.max_send_wr = options_.requests,
                .max_recv_wr = receives,
                .max_send_sge = 1,
                .max_recv_sge = receives != 0 ? 1U : 0U,
                .max_inline_data = 64};
  }
  if (!is_xrc_receiver && options_.wr_calls == 0) {
    qp_ = {calls().verbs.create_qp(pd, reinterpret_cast<ibv_qp_init_attr*>(&attr)),
           calls().verbs.destroy_qp};
    return made("create_qp(" + type_text(options_.type) + ")", qp_);
  }
  const verbs_context* const extended =
      __extension__ verbs_get_ctx_op(context_, create_qp_ex);  // a GNU expression
  ibv_qp* const qp = extended == nullptr ? nullptr : extended->create_qp_ex(context_, &attr);
  if (qp == nullptr)
    note_call("create_qp_ex()", extended == nullptr ? EOPNOTSUPP : calls().last_error());
  qp_ = {qp, calls().verbs.destroy_qp};
  return qp != nullptr;
}

ibv_qp_ex* Endpoint::qp_ex() const {
  return qp() == nullptr ? nullptr : calls().verbs.qp_to_qp_ex(qp());
}

void Endpoint::note_made() {
  note(ready_ ? "is made" : "is not made");
}

bool Endpoint::move(ibv_qp_state state, int mask, ibv_qp_attr attr) {
  attr.qp_state = state;
  return done("modify_qp(" + qp_state_text(state) + ")",
              calls().verbs.modify_qp(qp(), &attr, mask | IBV_QP_STATE));
}

bool Endpoint::find_way(const Endpoint& peer, ibv_ah_attr path) {
  ah_ = calls().verbs.create_ah(pd_.get(), &path);
  if (!made("create_ah()", ah_)) return false;
  peer_number_ = peer.qp()->qp_num;
  return true;
}

void Endpoint::connect(const Endpoint& peer) {
  if (!ready_ || !peer.ready_) return;
  const ibv_qp_type type = options_.type;
  const bool answers = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
  const bool asks = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
  ibv_qp_attr attr{};
  attr.port_num = port_;
  attr.qp_access_flags = options_.access;
  attr.path_mtu = options_.mtu;
  attr.dest_qp_num = peer.qp()->qp_num;
  attr.rq_psn = attr.sq_psn = kFirstPsn;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = options_.reads;
  attr.min_rnr_timer = kRnrTimer;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = attr.port_num;
  attr.ah_attr.grh = {.dgid = peer.gid_,
                      .flow_label = 0,
                      .sgid_index = gid_index_,
                      .hop_limit = 64,
                      .traffic_class = 0};
  attr.timeout = kTimeout;
  attr.retry_cnt = options_.retry;
  attr.rnr_retry = options_.rnr_retry;
  attr.qkey = kQueueKey;
  if (type == IBV_QPT_UD) {
    ready_ = move(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, attr) &&
             move(IBV_QPS_RTR, 0, attr) && move(IBV_QPS_RTS, IBV_QP_SQ_PSN, attr) &&
             find_way(peer, attr.ah_attr);
    return;
  }
  constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr int kReady = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  constexpr int kAnswers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  constexpr int kAsks = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  const int timeout = answers || asks ? IBV_QP_TIMEOUT : 0;
  ready_ = move(IBV_QPS_INIT, kInit, attr) &&
           move(IBV_QPS_RTR, kReady | (answers ? kAnswers : 0), attr) &&
           move(IBV_QPS_RTS, IBV_QP_SQ_PSN | timeout | (asks ? kAsks : 0), attr);
}

Link::Link(Stage& stage, const EndpointOptions& active_options,
           const EndpointOptions& passive_options)
    : passive(stage.server(), passive_options), active(stage.client(), active_options) {
  active.connect(passive);
  passive.connect(active);
  if (active.is_made() && passive.is_made()) {
    active.note("and " + passive.name() + " are " + type_text(active_options.type));
  }
}

}  // namespace anyrdma::conformance
