#include "verbs/soft/memory_window.h"

#include <cerrno>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/device_memory.h"
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

namespace {

Core& core_of(const ibv_context* context) {
  return SoftContext::from(context).core();
}

ibv_mw* null_with(int error) {
  errno = error;
  return nullptr;
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  Core& core = core_of(pd->context);
  CriticalSection section(core.runtime);
  if (const int error = core.refusal("alloc_mw"); error != 0) return null_with(error);
  if (core.config.max_mw == 0) return null_with(EOPNOTSUPP);
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return null_with(EINVAL);
  const auto found = core.handles.find<SoftPd>(*pd);
  if (!found) return null_with(found.error().value());
  SoftPd& domain = protecting(*found);
  SoftMw* window = core.memory.add_window(&domain, type, core.config.max_mw);
  if (window == nullptr) return null_with(ENOMEM);
  ++domain.users;
  return window;
}

int dealloc_mw(ibv_mw* mw) {
  Core& core = core_of(mw->context);
  CriticalSection section(core.runtime);
  const auto found = core.find_to_end<SoftMw>("ibv_dealloc_mw", *mw);
  if (!found) return found.error().value();
  SoftMw* const window = *found;
  --static_cast<SoftPd*>(window->pd)->users;
  if (core.observer != nullptr) core.observer->on_key_closed(window->rkey);
  core.memory.remove_window(window);
  return 0;
}

// A window of type 1 gets its next key as soon as its binding is posted (ibv_bind_mw(3)). Posted
// through the context, so that whoever watches what is posted sees it.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  ibv_send_wr request{};
  request.wr_id = bind->wr_id;
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = bind->send_flags;
  request.bind_mw.mw = mw;
  request.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  request.bind_mw.bind_info = bind->bind_info;
  ibv_send_wr* bad = nullptr;
  const int error = qp->context->ops.post_send(qp, &request, &bad);
  if (error == 0) mw->rkey = request.bind_mw.rkey;
  return error;
}

}  // namespace

void install_memory_operations(verbs_context& context) {
  ibv_context_ops& ops = context.context.ops;
  ops.alloc_mw = alloc_mw;
  ops.bind_mw = bind_mw;
  ops.dealloc_mw = dealloc_mw;
  install_device_memory_operations(context);
}

bool is_whole_binding(const ibv_send_wr& request) {
  const ibv_mw_bind_info& info = request.bind_mw.bind_info;
  return request.bind_mw.mw != nullptr && (info.mr != nullptr || info.length == 0);
}

}  // namespace anyrdma::verbs::soft
