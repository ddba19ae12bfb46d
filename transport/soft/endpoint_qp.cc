// How a queue pair follows its connection: rdma_init_qp_attr. Which attributes there are depends
// on the type of queue pair (kernel: cm_init_qp_rtr_attr, cm_init_qp_rts_attr).
#include <cerrno>

#include "transport/soft/address_vector.h"
#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

/// What the CM id's state lets a QP be moved to (kernel: cm_init_qp_init_attr and its siblings).
enum class Reach : std::uint8_t { kNothing, kInit, kReadyToSend };

Reach reach_of(ibcm::State state) {
  switch (state) {
    case ibcm::State::kReqSent:
    case ibcm::State::kMraReqRcvd:
      return Reach::kInit;  // the peer's QP is not known yet
    case ibcm::State::kReqRcvd:
    case ibcm::State::kMraReqSent:
    case ibcm::State::kRepRcvd:
    case ibcm::State::kMraRepSent:
    case ibcm::State::kRepSent:
    case ibcm::State::kMraRepRcvd:
    case ibcm::State::kEstablished:
      return Reach::kReadyToSend;
    case ibcm::State::kIdle:
    case ibcm::State::kListen:
    case ibcm::State::kDreqSent:
    case ibcm::State::kDreqRcvd:
    case ibcm::State::kTimewait:
    case ibcm::State::kSidrReqSent:
    case ibcm::State::kSidrReqRcvd:
      return Reach::kNothing;
  }
  return Reach::kNothing;
}

/// For an id that has no connection yet, or never will: the same, whatever state was asked for
/// (kernel: cma_ib_init_qp_attr).
QpTransition initial(ibv_qp_state state, const Datagram* datagram, std::uint8_t port) {
  QpTransition step;
  step.attr.qp_state = state;
  step.attr.pkey_index = 0;
  step.attr.port_num = port;
  step.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (datagram != nullptr) {
    step.attr.qkey = datagram->qkey;
    step.mask |= IBV_QP_QKEY;
  } else {
    step.attr.qp_access_flags = 0;
    step.mask |= IBV_QP_ACCESS_FLAGS;
  }
  return step;
}

QpTransition to_init(const ibcm::ConnectionInfo& info, std::uint8_t port) {
  QpTransition step;
  step.attr.qp_state = IBV_QPS_INIT;
  step.attr.pkey_index = 0;
  step.attr.port_num = port;
  step.attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (info.responder_resources != 0) {
    step.attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  step.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return step;
}

QpTransition to_rtr(const ibcm::ConnectionInfo& info, const ibv_ah_attr& peer, wire::Psn own_psn,
                    ibv_qp_type type) {
  QpTransition step;
  step.attr.qp_state = IBV_QPS_RTR;
  step.attr.ah_attr = peer;
  step.attr.path_mtu = static_cast<ibv_mtu>(info.path_mtu);
  step.attr.dest_qp_num = wire::value(info.remote_qpn);
  step.attr.rq_psn = own_psn.value();
  step.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (type != IBV_QPT_RC) return step;
  step.attr.max_dest_rd_atomic = info.responder_resources;
  step.attr.min_rnr_timer = 0;
  step.mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return step;
}

QpTransition to_rts(const ibcm::ConnectionInfo& info, std::uint8_t ack_timeout, ibv_qp_type type) {
  QpTransition step;
  step.attr.qp_state = IBV_QPS_RTS;
  step.attr.sq_psn = info.remote_psn.value();
  step.mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (type != IBV_QPT_RC) return step;
  step.attr.timeout = ack_timeout;
  step.attr.retry_cnt = info.retry_count;
  step.attr.rnr_retry = info.rnr_retry_count;
  step.attr.max_rd_atomic = info.initiator_depth;
  step.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return step;
}

}  // namespace

Result<QpTransition> SoftEndpoint::qp_transition(ibv_qp_state state) {
  if (Result<void> legal = admits(Call::kInitQpAttr); !legal) return legal.error();
  const std::uint8_t port = device_ != nullptr ? device_->port : std::uint8_t{1};
  if (datagram_) {
    if (Result<void> chosen = choose_qkey(); !chosen) return chosen.error();
    return initial(state, datagram_.get(), port);
  }
  if (listens_on_device()) return verbs::errno_code(EINVAL);  // cm.c has nothing for LISTEN
  if (!comm_id_) return initial(state, nullptr, port);
  const std::optional<ibcm::ConnectionInfo> info = device_->agent->info(*comm_id_);
  const Reach reach = info ? reach_of(info->state) : Reach::kNothing;
  if (reach == Reach::kNothing) return verbs::errno_code(EINVAL);
  if (state == IBV_QPS_INIT) return to_init(*info, port);
  if (reach != Reach::kReadyToSend) return verbs::errno_code(EINVAL);
  if (state == IBV_QPS_RTS) {
    return to_rts(*info, ack_timeout_.value_or(info->ack_timeout), type_);
  }
  if (state != IBV_QPS_RTR) return verbs::errno_code(EINVAL);
  const int gid_index = device_->index_of(info->path.source);
  if (gid_index < 0) return verbs::errno_code(EINVAL);
  return to_rtr(*info, address_vector(info->path, gid_index, port), psn_, type_);
}

}  // namespace anyrdma::transport::soft
