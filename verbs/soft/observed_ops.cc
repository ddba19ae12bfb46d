// The data path of a device that somebody observes: the operations that would be there otherwise,
// each followed by a word to the observer. Others therefore ask for nothing.
#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {
namespace {

int observed_poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  SoftContext& context = SoftContext::from(cq->context);
  HcaObserver* const observer = context.core().observer;
  const int got = context.observed.poll_cq(cq, count, completions);
  for (int i = 0; i < got; ++i) observer->on_polled(*cq, completions[i]);
  return got;
}

int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  const int error = SoftContext::from(qp->context).observed.post_send(qp, request, bad);
  const ibv_send_wr* const end = error == 0 ? nullptr : *bad;
  for (; request != end; request = request->next) {
    const bool signaled = soft.signal_all || (request->send_flags & IBV_SEND_SIGNALED) != 0;
    soft.core.observer->on_posted(*qp, *request, signaled);
  }
  return error;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  HcaObserver* const observer = static_cast<SoftQp*>(qp)->core.observer;
  const int error = SoftContext::from(qp->context).observed.post_recv(qp, request, bad);
  const ibv_recv_wr* const end = error == 0 ? nullptr : *bad;
  for (; request != end; request = request->next) observer->on_posted(*qp, *request);
  return error;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad) {
  SoftContext& context = SoftContext::from(srq->context);
  HcaObserver* const observer = context.core().observer;
  const int error = context.observed.post_srq_recv(srq, request, bad);
  const ibv_recv_wr* const end = error == 0 ? nullptr : *bad;
  for (; request != end; request = request->next) observer->on_posted(*srq, *request);
  return error;
}

}  // namespace

void install_observed_operations(SoftContext& context) {
  ibv_context_ops& ops = context.ibv()->ops;
  context.observed = ops;
  ops.poll_cq = observed_poll_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
}

}  // namespace anyrdma::verbs::soft
