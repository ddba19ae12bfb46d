// Completion channels and completion queues. Polling goes through context->ops.
#include <infiniband/verbs.h>

#include "verbs/c_api/c_result.h"
#include "verbs/channels.h"
#include "verbs/provider.h"

using namespace anyrdma::c_api;
using anyrdma::verbs::channel_has_ended;
using anyrdma::verbs::provider_of;

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return null_on_error([&]() -> Result<ibv_comp_channel*> {
    if (context == nullptr) return errno_code(EINVAL);
    return anyrdma::verbs::create_channel(context);
  });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel == nullptr) return EINVAL;
  return errno_on_error([&] { return anyrdma::verbs::destroy_channel(channel); });
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  return null_on_error([&]() -> Result<ibv_cq*> {
    if (context == nullptr) return errno_code(EINVAL);
    if (channel != nullptr && channel_has_ended(channel)) return errno_code(EBADF);
    return provider_of(context).create_cq(context, cqe, cq_context, channel, comp_vector);
  });
}

int ibv_destroy_cq(ibv_cq* cq) {
  if (cq == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(cq->context).destroy_cq(cq); });
}

// Waits in read(2) on the channel's descriptor and holds no lock there: a thread may be cancelled.
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (channel == nullptr || cq == nullptr) return fail(EINVAL);
  if (channel_has_ended(channel)) return fail(EBADF);
  return minus_one_on_error([&]() -> Result<void> {
    const auto found = provider_of(channel->context).get_cq_event(channel);
    if (!found) return found.error();
    *cq = *found;
    if (cq_context != nullptr) *cq_context = (*found)->cq_context;
    return {};
  });
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned nevents) {
  if (cq == nullptr || nevents == 0) return;
  (void)errno_on_error([&]() -> Result<void> {
    provider_of(cq->context).ack_cq_events(cq, nevents);
    return {};
  });
}

int ibv_resize_cq(ibv_cq* cq, int cqe) {
  if (cq == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(cq->context).resize_cq(cq, cqe); });
}

}  // extern "C"
