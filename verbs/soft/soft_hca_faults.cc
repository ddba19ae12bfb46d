// What goes wrong on purpose in the software HCA.
#include <algorithm>
#include <cerrno>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

// Errors that a responder has, of the peer's making, need a responder that is at work; only
// reliable connections have one (IBTA vol 1, 11.6.3).
bool may_have(const SoftQp& qp, ibv_event_type event) {
  if (qp.state == IBV_QPS_RESET || qp.state == IBV_QPS_ERR) return false;
  if (event == IBV_EVENT_QP_FATAL) return true;
  if (event != IBV_EVENT_QP_REQ_ERR && event != IBV_EVENT_QP_ACCESS_ERR) return false;
  const bool answers = qp.qp_type == IBV_QPT_RC || qp.qp_type == IBV_QPT_XRC_RECV;
  return answers && qp.state != IBV_QPS_INIT;
}

// An extended connection reports its receives to the queue of the shared receive queue that it
// draws from.
bool reports_to(const SoftQp& qp, const SoftCq& cq) {
  const SoftSrq* const source = qp.receives.source();
  return qp.send_cq == &cq || qp.recv_cq == &cq ||
         (source != nullptr && source->completions() == &cq);
}

}  // namespace

void SoftHca::set_call_gate(CallGate* gate) {
  CriticalSection section(core_.runtime);
  core_.gate = gate;
  for (SoftContext* context : contexts_) context->choose_operations();
}

SoftQp* SoftHca::find(const ObjectName& name) const {
  if (name.made == 0) return find(wire::Qpn{name.number});
  const auto found = std::find_if(numbers_.begin(), numbers_.end(), [&](const SoftQp* qp) {
    return qp != nullptr && qp->made == name.made;
  });
  return found == numbers_.end() ? nullptr : *found;
}

// As what else befalls the device these are called inside of a critical section.

Result<void> SoftHca::fail_qp(const ObjectName& name, ibv_event_type event) {
  SoftQp* qp = find(name);
  if (qp == nullptr || core_.removed) return errno_code(ENOENT);
  if (!may_have(*qp, event)) return errno_code(EINVAL);
  qp->responder.forget_answers();
  qp->raise(event);
  qp->enter_error();
  return {};
}

Result<void> SoftHca::overrun_cq(std::uint64_t made) {
  if (core_.removed) return errno_code(ENOENT);
  const auto found = std::find_if(live_completion_queues_.begin(), live_completion_queues_.end(),
                                  [made](const SoftCq& cq) { return cq.made == made; });
  if (found == live_completion_queues_.end()) return errno_code(ENOENT);
  if (found->is_overrun()) return errno_code(EALREADY);
  found->overrun();
  return {};
}

// IBTA vol 1, 11.6.3: a queue pair cannot go on without its receives.
Result<void> SoftHca::fail_srq(std::uint64_t made) {
  if (core_.removed) return errno_code(ENOENT);
  const auto found =
      std::find_if(live_shared_receive_queues_.begin(), live_shared_receive_queues_.end(),
                   [made](const SoftSrq& srq) { return srq.made == made; });
  if (found == live_shared_receive_queues_.end()) return errno_code(ENOENT);
  SoftContext::from(found->context).raise_srq(*found, IBV_EVENT_SRQ_ERR);
  for (SoftQp* qp : numbers_) {
    if (qp == nullptr || qp->receives.source() != &*found) continue;
    if (!may_have(*qp, IBV_EVENT_QP_FATAL)) continue;
    qp->responder.forget_answers();
    qp->raise(IBV_EVENT_QP_FATAL);
    qp->enter_error();
  }
  return {};
}

// They could not report what becomes of their work (IBTA vol 1, 11.6.3; rxe:
// RESPST_ERR_CQ_OVERFLOW moves the queue pair to ERR).
void SoftHca::fail_users_of(const SoftCq& cq) {
  for (SoftQp* qp : numbers_) {
    if (qp == nullptr || !reports_to(*qp, cq)) continue;
    if (!may_have(*qp, IBV_EVENT_QP_FATAL)) continue;
    qp->responder.forget_answers();
    qp->raise(IBV_EVENT_QP_FATAL);
    qp->enter_error();
  }
}

}  // namespace anyrdma::verbs::soft
