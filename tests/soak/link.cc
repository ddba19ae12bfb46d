#include "tests/soak/link.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "tests/soak/finding.h"

namespace anyrdma::soak {
namespace {

constexpr int kResolveTime = 30'000;  // milliseconds; a deadline, not a duration
constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = port;
  return address;
}

ibv_qp_init_attr attributes(ibv_cq* cq, ibv_qp_type type) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = type;
  attr.cap = {.max_send_wr = 2 * kDepth,
              .max_recv_wr = 2 * kDepth,
              .max_send_sge = 3,
              .max_recv_sge = 3,
              .max_inline_data = kInlineMax};
  return attr;
}

rdma_conn_param parameters() {
  rdma_conn_param param{};
  param.responder_resources = param.initiator_depth = kDepth;
  param.retry_count = param.rnr_retry_count = 7;
  return param;
}

void call(int result, const char* name) {
  if (result > 0) errno = result;
  require(result == 0, name);
}

}  // namespace

Link::Link(Role role, int control) : role_(role), control_(control) {
  if (role_ == Role::kServer) {
    serve();
  } else {
    this->call();
  }
  ibv_qp_init_attr unused{};
  soak::call(ibv_query_qp(id_->qp, &path_, IBV_QP_AV | IBV_QP_PATH_MTU, &unused), "ibv_query_qp");
  path_.ah_attr.port_num = id_->port_num;
  renew_unreliable();
}

void Link::make_reliable() {
  pd_ = ibv_alloc_pd(id_->verbs);
  require(pd_ != nullptr, "ibv_alloc_pd");
  cq_ = ibv_create_cq(id_->verbs, 16 * kDepth, nullptr, nullptr, 0);
  require(cq_ != nullptr, "ibv_create_cq");
  ibv_qp_init_attr attr = attributes(cq_, IBV_QPT_RC);
  soak::call(rdma_create_qp(id_, pd_, &attr), "rdma_create_qp");
}

void Link::serve() {
  soak::call(rdma_create_id(nullptr, &listener_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in address = loopback(0);
  soak::call(rdma_bind_addr(listener_, reinterpret_cast<sockaddr*>(&address)), "rdma_bind_addr");
  soak::call(rdma_listen(listener_, 1), "rdma_listen");
  (void)swap(rdma_get_src_port(listener_));
  soak::call(rdma_get_request(listener_, &id_), "rdma_get_request");
  make_reliable();
  rdma_conn_param param = parameters();
  soak::call(rdma_accept(id_, &param), "rdma_accept");
}

void Link::call() {
  soak::call(rdma_create_id(nullptr, &id_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in address = loopback(static_cast<std::uint16_t>(swap(0)));
  soak::call(rdma_resolve_addr(id_, nullptr, reinterpret_cast<sockaddr*>(&address), kResolveTime),
             "rdma_resolve_addr");
  soak::call(rdma_resolve_route(id_, kResolveTime), "rdma_resolve_route");
  make_reliable();
  rdma_conn_param param = parameters();
  soak::call(rdma_connect(id_, &param), "rdma_connect");
}

Link::~Link() {
  meet();
  destroy_unreliable();
  soak::call(rdma_disconnect(id_), "rdma_disconnect");
  rdma_destroy_qp(id_);
  if (window_ != nullptr) soak::call(ibv_dealloc_mw(window_), "ibv_dealloc_mw");
  if (mr_ != nullptr) soak::call(ibv_dereg_mr(mr_), "ibv_dereg_mr");
  soak::call(ibv_destroy_cq(cq_), "ibv_destroy_cq");
  soak::call(ibv_dealloc_pd(pd_), "ibv_dealloc_pd");
  soak::call(rdma_destroy_id(id_), "rdma_destroy_id");
  if (listener_ != nullptr) soak::call(rdma_destroy_id(listener_), "rdma_destroy_id");
}

std::uint64_t Link::swap(std::uint64_t mine) const {
  if (::send(control_, &mine, sizeof mine, MSG_NOSIGNAL) != sizeof mine)
    end_with(End::kPeerGone, "the other side is gone");
  std::uint64_t theirs = 0;
  ssize_t got = 0;
  do {
    got = ::recv(control_, &theirs, sizeof theirs, MSG_WAITALL);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof theirs) end_with(End::kPeerGone, "the other side has gone");
  return theirs;
}

ibv_qp* Link::qp(Service service) const {
  switch (service) {
    case Service::kReliable:
      return id_->qp;
    case Service::kUnreliable:
      return unreliable_;
    case Service::kDatagram:
      return datagram_;
  }
  return nullptr;
}

std::size_t Link::mtu() const {
  return std::size_t{128} << path_.path_mtu;
}

// --- the unreliable services, by hand -----------------------------------------------------------

void Link::make_unreliable(Service service, ibv_qp*& qp) {
  const bool is_datagram = service == Service::kDatagram;
  ibv_qp_init_attr init = attributes(cq_, is_datagram ? IBV_QPT_UD : IBV_QPT_UC);
  qp = ibv_create_qp(pd_, &init);
  require(qp != nullptr, "ibv_create_qp");
  const auto peer = static_cast<std::uint32_t>(swap(qp->qp_num));
  ibv_qp_attr attr = path_;
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = path_.ah_attr.port_num;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  attr.qkey = kQkey;
  attr.dest_qp_num = peer;
  if (is_datagram) datagram_peer_ = peer;
  soak::call(ibv_modify_qp(qp, &attr,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                               (is_datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
             "INIT");
  attr.qp_state = IBV_QPS_RTR;
  soak::call(ibv_modify_qp(qp, &attr,
                           is_datagram ? IBV_QP_STATE
                                       : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                                             IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
             "RTR");
  attr.qp_state = IBV_QPS_RTS;
  soak::call(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
}

void Link::renew_unreliable() {
  destroy_unreliable();
  ah_ = ibv_create_ah(pd_, &path_.ah_attr);
  require(ah_ != nullptr, "ibv_create_ah");
  make_unreliable(Service::kUnreliable, unreliable_);
  make_unreliable(Service::kDatagram, datagram_);
  meet();
}

void Link::destroy_unreliable() {
  if (unreliable_ == nullptr) return;
  soak::call(ibv_destroy_qp(unreliable_), "ibv_destroy_qp");
  soak::call(ibv_destroy_qp(datagram_), "ibv_destroy_qp");
  soak::call(ibv_destroy_ah(ah_), "ibv_destroy_ah");
  ibv_wc stale{};  // none of theirs is left
  while (ibv_poll_cq(cq_, 1, &stale) == 1) {
  }
}

// --- memory -------------------------------------------------------------------------------------

void Link::learn_remote(std::uint32_t rkey) {
  remote_.address = swap(reinterpret_cast<std::uintptr_t>(pages_->data()));
  remote_.rkey = static_cast<std::uint32_t>(swap(rkey));
  remote_.region_rkey = static_cast<std::uint32_t>(swap(mr_->rkey));
}

void Link::remap(std::size_t size) {
  if (mr_ != nullptr) {
    if (window_ != nullptr) soak::call(ibv_dealloc_mw(window_), "ibv_dealloc_mw");
    window_ = nullptr;
    soak::call(ibv_dereg_mr(mr_), "ibv_dereg_mr");
    mr_ = nullptr;
  }
  pages_ = std::make_unique<Pages>(size);
  reregister();
}

void Link::reregister() {
  if (window_ != nullptr) soak::call(ibv_dealloc_mw(window_), "ibv_dealloc_mw");
  window_ = nullptr;
  if (mr_ != nullptr) soak::call(ibv_dereg_mr(mr_), "ibv_dereg_mr");
  mr_ = ibv_reg_mr(pd_, pages_->data(), pages_->size(), kAccess);
  require(mr_ != nullptr, "ibv_reg_mr");
  learn_remote(mr_->rkey);
}

void Link::open_window(ibv_mw_type type) {
  if (window_ != nullptr) soak::call(ibv_dealloc_mw(window_), "ibv_dealloc_mw");
  window_ = ibv_alloc_mw(pd_, type);
  require(window_ != nullptr, "ibv_alloc_mw");
  const ibv_mw_bind_info info{mr_, reinterpret_cast<std::uintptr_t>(pages_->data()), pages_->size(),
                              kAccess & ~unsigned{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND}};
  std::uint32_t rkey = 0;
  if (type == IBV_MW_TYPE_1) {
    ibv_mw_bind bind{0, IBV_SEND_SIGNALED, info};
    soak::call(ibv_bind_mw(id_->qp, window_, &bind), "ibv_bind_mw");
    rkey = window_->rkey;
  } else {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_mw = {window_, ibv_inc_rkey(window_->rkey), info};
    ibv_send_wr* bad = nullptr;
    soak::call(ibv_post_send(id_->qp, &request, &bad), "ibv_post_send of BIND_MW");
    rkey = request.bind_mw.rkey;
  }
  ibv_wc completion{};
  if (!poll(completion, kResolveTime)) end_with(End::kWrong, "a bind never completes");
  if (completion.status != IBV_WC_SUCCESS)
    end_with(End::kBroken, "a bind: %s", ibv_wc_status_str(completion.status));
  learn_remote(rkey);
}

bool Link::poll(ibv_wc& completion, int milliseconds) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  for (unsigned i = 0;; ++i) {
    const int got = ibv_poll_cq(cq_, 1, &completion);
    require(got >= 0, "ibv_poll_cq");
    if (got == 1) return true;
    if (i % 64 == 63 && std::chrono::steady_clock::now() > end) return false;
    ::sched_yield();
  }
}

}  // namespace anyrdma::soak
