// Asynchronous events of a device.
#include <infiniband/verbs.h>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"

namespace anyrdma::c_api {
namespace {

// Events do not name their context; their object does. Port and device events concern nobody's
// destruction, so they need no acknowledgement.
const ibv_context* context_of(const ibv_async_event& event) {
  switch (static_cast<int>(event.event_type)) {
    case IBV_EVENT_CQ_ERR:
      return event.element.cq->context;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return event.element.qp->context;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return event.element.srq->context;
    case IBV_EVENT_WQ_FATAL:
      return event.element.wq->context;
  }
  return nullptr;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;
using anyrdma::verbs::provider_of;

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  if (context == nullptr || event == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    const auto found = provider_of(context).get_async_event(context);
    if (!found) return found.error();
    *event = *found;
    return {};
  });
}

void ibv_ack_async_event(ibv_async_event* event) {
  if (event == nullptr) return;
  (void)errno_on_error([&]() -> Result<void> {
    const ibv_context* context = context_of(*event);
    if (context != nullptr) provider_of(context).ack_async_event(*event);
    return {};
  });
}

}  // extern "C"
