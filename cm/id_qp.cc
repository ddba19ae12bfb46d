// The id's queue pair (L/rdma_create_qp_ex, ucma_modify_qp_rtr and its siblings). Outside the
// critical section: providers enter it.
#include "cm/device_use.h"
#include "cm/id.h"
#include "verbs/channels.h"
#include "verbs/provider.h"

namespace anyrdma::cm {
namespace {

/// The id's own CQ and the one the application brings must not differ.
bool conflict(const ibv_cq* own, const ibv_cq* given) {
  return own != nullptr && given != nullptr && own != given;
}

struct CqWithChannel {
  ibv_cq* cq;
  ibv_comp_channel* channel;
};

Result<CqWithChannel> make_cq(ibv_context* verbs, std::uint32_t depth, void* cq_context) {
  verbs::Provider& provider = verbs::provider_of(verbs);
  Result<ibv_comp_channel*> channel = verbs::create_channel(verbs);
  if (!channel) return channel.error();
  Result<ibv_cq*> cq = provider.create_cq(verbs, static_cast<int>(depth), cq_context, *channel, 0);
  if (!cq) {
    (void)verbs::destroy_channel(*channel).has_value();
    return cq.error();
  }
  return CqWithChannel{*cq, *channel};
}

void destroy_cq(ibv_cq*& cq, ibv_comp_channel*& channel) {
  if (cq == nullptr) return;
  verbs::Provider& provider = verbs::provider_of(cq->context);
  (void)provider.destroy_cq(cq).has_value();
  if (channel != nullptr) (void)verbs::destroy_channel(channel).has_value();
  cq = nullptr;
  channel = nullptr;
}

}  // namespace

Result<void> Id::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (attr == nullptr) return verbs::errno_code(EINVAL);
  {
    verbs::CriticalSection section(runtime());
    if (Result<void> legal = check(Call::kInitQpAttr); !legal) return legal;
  }
  if (device_ == nullptr || raw_.id.qp != nullptr) return verbs::errno_code(EINVAL);
  if (pd == nullptr) pd = raw_.id.pd != nullptr ? raw_.id.pd : device_->pd;
  if (pd->context != raw_.id.verbs || conflict(raw_.id.send_cq, attr->send_cq) ||
      conflict(raw_.id.recv_cq, attr->recv_cq)) {
    return verbs::errno_code(EINVAL);
  }
  ibv_qp_init_attr wanted = *attr;
  if (wanted.srq == nullptr) wanted.srq = raw_.id.srq;
  Result<ibv_qp*> qp = make_qp(*pd, wanted);
  if (!qp) {
    destroy_cqs();
    return qp.error();
  }
  *attr = wanted;
  verbs::CriticalSection section(runtime());
  raw_.id.pd = pd;
  raw_.id.qp = *qp;
  return {};
}

Result<ibv_qp*> Id::make_qp(ibv_pd& pd, ibv_qp_init_attr& wanted) {
  if (Result<void> made = make_cqs(wanted); !made) return made.error();
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr) return verbs::errno_code(EINVAL);
  verbs::Provider& provider = verbs::provider_of(raw_.id.verbs);
  Result<ibv_qp*> qp = provider.create_qp(&pd, &wanted);
  if (!qp) return qp;
  Result<void> ready = offer_ece(**qp);
  const bool datagrams = raw_.id.qp_type == IBV_QPT_UD;
  if (ready) ready = datagrams ? start_ud_qp(**qp) : move_qp(**qp, IBV_QPS_INIT, nullptr);
  if (ready && remote_ece_.vendor_id != 0) ready = take_ece(**qp);
  if (!ready) {
    (void)provider.destroy_qp(*qp).has_value();
    return ready.error();
  }
  return qp;
}

Result<void> Id::start_ud_qp(ibv_qp& qp) {
  if (Result<void> moved = move_qp(qp, IBV_QPS_INIT, nullptr); !moved) return moved;
  verbs::Provider& provider = verbs::provider_of(qp.context);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  if (Result<void> moved = provider.modify_qp(&qp, &attr, IBV_QP_STATE); !moved) return moved;
  attr.qp_state = IBV_QPS_RTS;
  return provider.modify_qp(&qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

Result<void> Id::make_cqs(ibv_qp_init_attr& attr) {
  rdma_cm_id& id = raw_.id;
  if (attr.recv_cq == nullptr && id.recv_cq == nullptr && attr.cap.max_recv_wr != 0) {
    Result<CqWithChannel> made = make_cq(id.verbs, attr.cap.max_recv_wr, &id);
    if (!made) return made.error();
    id.recv_cq = made->cq;
    id.recv_cq_channel = made->channel;
  }
  if (attr.send_cq == nullptr && id.send_cq == nullptr && attr.cap.max_send_wr != 0) {
    Result<CqWithChannel> made = make_cq(id.verbs, attr.cap.max_send_wr, &id);
    if (!made) return made.error();
    id.send_cq = made->cq;
    id.send_cq_channel = made->channel;
  }
  if (attr.recv_cq == nullptr) attr.recv_cq = id.recv_cq;
  if (attr.send_cq == nullptr) attr.send_cq = id.send_cq;
  return {};
}

void Id::destroy_cqs() {
  destroy_cq(raw_.id.recv_cq, raw_.id.recv_cq_channel);
  destroy_cq(raw_.id.send_cq, raw_.id.send_cq_channel);
}

Result<void> Id::destroy_qp() {
  if (raw_.id.qp == nullptr) return verbs::errno_code(EINVAL);
  {
    verbs::CriticalSection section(runtime());
    qp_going_ = true;
  }
  Result<void> destroyed = drain("a fetch that works on the queue pair");
  if (destroyed) {
    destroyed = verbs::provider_of(raw_.id.qp->context).destroy_qp(raw_.id.qp);
  }
  {
    verbs::CriticalSection section(runtime());
    qp_going_ = false;
    if (destroyed) raw_.id.qp = nullptr;
  }
  if (destroyed) destroy_cqs();
  return destroyed;
}

bool Id::hold_qp() {
  verbs::CriticalSection section(runtime());
  if (raw_.id.qp == nullptr || qp_going_) return false;
  ++qp_holds_;
  return true;
}

void Id::release_qp() {
  verbs::CriticalSection section(runtime());
  --qp_holds_;
  if (waiting_ && is_drained()) acknowledged_->post();
}

Result<transport::QpTransition> Id::init_qp_attr(ibv_qp_state state) {
  if (state > IBV_QPS_ERR) return verbs::errno_code(EINVAL);
  verbs::CriticalSection section(runtime());
  if (Result<void> legal = check(Call::kInitQpAttr); !legal) return legal.error();
  return endpoint_->qp_transition(state);
}

Result<void> Id::move_qp(ibv_qp& qp, ibv_qp_state state, const Depths* depths) {
  Result<transport::QpTransition> step = init_qp_attr(state);
  if (!step) return step.error();
  if (depths != nullptr) {
    step->attr.max_dest_rd_atomic = depths->responder_resources;
    step->attr.max_rd_atomic = depths->initiator_depth;
  }
  return verbs::provider_of(qp.context).modify_qp(&qp, &step->attr, step->mask);
}

Result<void> Id::bring_qp_up(const Depths* depths) {
  // INIT again: the access flags of the first time knew nothing of the connection.
  for (ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    if (Result<void> moved = move_qp(*raw_.id.qp, state, depths); !moved) return moved;
  }
  return {};
}

Result<void> Id::flush_qp() {
  if (raw_.id.qp == nullptr) return {};
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  return verbs::provider_of(raw_.id.qp->context).modify_qp(raw_.id.qp, &attr, IBV_QP_STATE);
}

}  // namespace anyrdma::cm
