// The operations that <infiniband/verbs.h> reaches through the context: the data path, and those
// extended operations that the software HCA has. A null slot means "not supported".
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/device_memory.h"
#include "verbs/soft/memory_window.h"
#include "verbs/soft/post_each.h"
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

namespace {

Runtime& runtime_of(const ibv_context* context) {
  return SoftContext::from(context).core().runtime;
}

int error_of(const Result<void>& result) {
  return result ? 0 : result.error().value();
}

// --- data path ----------------------------------------------------------------------------------

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  Core& core = SoftContext::from(cq->context).core();
  CriticalSection section(core.runtime);
  const auto found = core.handles.find<SoftCq>(*cq);  // a call of the kernel's for rxe
  if (!found) return found.error().value();
  (*found)->request_notification(solicited_only != 0);
  core.runtime.about_to_wait();
  return 0;
}

int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  CriticalSection section(soft.core.runtime);
  const int error =
      post_each(request, bad, [&soft](const ibv_send_wr& each) { return soft.post_send(each); });
  soft.schedule();
  return error;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& soft = *static_cast<SoftQp*>(qp);
  CriticalSection section(soft.core.runtime);
  return post_each(request, bad,
                   [&soft](const ibv_recv_wr& each) { return soft.post_receive(each); });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad) {
  auto& soft = *static_cast<SoftSrq*>(srq);
  Core& core = SoftContext::from(srq->context).core();
  CriticalSection section(core.runtime);
  return post_each(request, bad,
                   [&](const ibv_recv_wr& each) { return core.removed ? EIO : soft.post(each); });
}

// --- queries ------------------------------------------------------------------------------------

// Both sides may be older or newer: copy what both know, and leave no byte undefined.
template <class T>
void copy_out(void* to, std::size_t size, const T& from) {
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t size) {
  ibv_port_attr full{};
  const int error = error_of(provider_of(context).query_port(context, port, &full));
  if (error == 0) copy_out(attr, size, full);
  return error;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, std::size_t size) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  if (size < sizeof attr->orig_attr) return EINVAL;
  ibv_device_attr_ex full{};
  const int error = error_of(provider_of(context).query_device(context, &full.orig_attr));
  full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
  describe_memory(SoftContext::from(context).core().config, full);
  full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
  describe_moderation(full);
  describe_clock(full);
  if (error == 0) copy_out(attr, size, full);
  return error;
}

int compat_query_device(ibv_context* context, ibv_device_attr* attr) {
  return error_of(provider_of(context).query_device(context, attr));
}

int compat_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attr) {
  // The old structure is today's without its last field.
  constexpr std::size_t kOldSize = offsetof(ibv_port_attr, port_cap_flags2);
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attr), kOldSize);
}

}  // namespace

int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  auto& soft = *static_cast<SoftCq*>(cq);
  Runtime& runtime = runtime_of(cq->context);
  CriticalSection section(runtime);
  int got = soft.poll(count, completions);
  if (got == 0 && count > 0) {
    // A program that polls must make progress although no other thread gets the processor.
    runtime.progress();
    got = soft.poll(count, completions);
  }
  return got;
}

void install_operations(verbs_context& context) {
  ibv_context_ops& ops = context.context.ops;
  ops._compat_query_device = compat_query_device;
  ops._compat_query_port = compat_query_port;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
  install_memory_operations(context);
  context.query_port = query_port;
  context.query_device_ex = query_device_ex;
  install_xrc_operations(context);
  install_qp_creation(context);
  install_cq_operations(context);
  install_domain_operations(context);
  install_clock(context);
}

}  // namespace anyrdma::verbs::soft
