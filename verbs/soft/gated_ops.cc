// The data path while a fault plan watches it: the same, except that Core::gate is asked before
// each call, and about each request once it is posted. Contexts without a gate have the operations
// of context_ops.cc and pay nothing. The gate may go at any time: a process ends its plan while its
// threads still post.
#include <string_view>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/post_each.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/send_request.h"

namespace anyrdma::verbs::soft {

namespace {

std::uint64_t total_length(const ibv_recv_wr& request) {
  std::uint64_t length = 0;
  for (int i = 0; i < request.num_sge; ++i) length += request.sg_list[i].length;
  return length;
}

ibv_wc_status verdict(const Core& core, const PostedWork& work) {
  return core.gate == nullptr ? IBV_WC_SUCCESS : core.gate->on_work(work);
}

// Where the queue pair is not able to do it, it fails, or is flushed, without our help.
void judge(SoftQp& qp, const ibv_send_wr& request) {
  if (qp.state != IBV_QPS_RTS) return;
  const ibv_wc_status status = verdict(qp.core, {.qp = qp.made,
                                                 .qp_num = qp.qp_num,
                                                 .wr_id = request.wr_id,
                                                 .type = qp.qp_type,
                                                 .opcode = completion_opcode(request.opcode),
                                                 .length = soft::total_length(request)});
  if (status != IBV_WC_SUCCESS) qp.spoil_send(status);
}

void judge(SoftQp& qp, const ibv_recv_wr& request) {
  if (qp.state == IBV_QPS_ERR) return;
  const ibv_wc_status status = verdict(qp.core, {.qp = qp.made,
                                                 .qp_num = qp.qp_num,
                                                 .wr_id = request.wr_id,
                                                 .type = qp.qp_type,
                                                 .opcode = IBV_WC_RECV,
                                                 .length = total_length(request)});
  if (status != IBV_WC_SUCCESS) qp.receives.spoil_last(status);
}

void judge(Core& core, SoftSrq& srq, const ibv_recv_wr& request) {
  const ibv_wc_status status = verdict(
      core, {.wr_id = request.wr_id, .opcode = IBV_WC_RECV, .length = total_length(request)});
  if (status != IBV_WC_SUCCESS) srq.spoil_last(status);
}

// Posts nothing when the call is to fail.
template <class Request, class Post>
int post_list(Core& core, std::string_view call, Request* request, Request** bad, Post post) {
  const int refused = core.refusal(call);
  if (refused == 0) return post_each(request, bad, post);
  *bad = request;
  return refused;
}

int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  CriticalSection section(soft.core.runtime);
  const auto post = [&soft](const ibv_send_wr& each) {
    const int error = soft.post_send(each);
    if (error == 0) judge(soft, each);
    return error;
  };
  const int error = post_list(soft.core, "post_send", request, bad, post);
  soft.schedule();
  return error;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  CriticalSection section(soft.core.runtime);
  return post_list(soft.core, "post_recv", request, bad, [&soft](const ibv_recv_wr& each) {
    const int error = soft.post_receive(each);
    if (error == 0) judge(soft, each);
    return error;
  });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& soft = *static_cast<SoftSrq*>(srq);
  Core& core = SoftContext::from(srq->context).core();
  CriticalSection section(core.runtime);
  return post_list(core, "post_srq_recv", request, bad, [&](const ibv_recv_wr& each) {
    const int error = soft.post(each);
    if (error == 0) judge(core, soft, each);
    return error;
  });
}

CallGate* gate_of(Core& core) {
  CriticalSection section(core.runtime);
  return core.gate;
}

int gated_poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  Core& core = SoftContext::from(cq->context).core();
  if (CallGate* const gate = gate_of(core)) gate->on_take();
  const int got = poll_cq(cq, count, completions);
  for (int i = 0; i < got; ++i) {
    if (completions[i].status == IBV_WC_SUCCESS) continue;
    CriticalSection section(core.runtime);
    if (core.gate != nullptr) core.gate->on_failure(completions[i]);
  }
  return got;
}

}  // namespace

void install_gated_operations(verbs_context& context) {
  ibv_context_ops& ops = context.context.ops;
  ops.poll_cq = gated_poll_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
}

}  // namespace anyrdma::verbs::soft
