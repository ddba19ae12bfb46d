// Completion channels and completion queues. Polling goes through context->ops.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"

using namespace anyrdma::c_api;
using anyrdma::verbs::provider_of;

namespace {

/// The channels that were destroyed last, by address. With rdma-core, ibv_get_cq_event with such a
/// channel reads the closed descriptor from freed memory, and returns EBADF as long as nothing else
/// is there. Programs rely on it when they end: rping destroys the channel while a thread is about
/// to wait on it. Each function may be called by any thread; the slots are independent of each
/// other, and no other memory depends on them.
class EndedChannels {
 public:
  void add(ibv_comp_channel* channel) {
    slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()] = channel;
  }
  /// The address is that of a channel again.
  void remove(ibv_comp_channel* channel) {
    for (std::atomic<ibv_comp_channel*>& each : slots_) {
      ibv_comp_channel* expected = channel;
      each.compare_exchange_strong(expected, nullptr);
    }
  }
  /// Precondition: `channel` is not null.
  [[nodiscard]] bool has(const ibv_comp_channel* channel) const {
    return std::ranges::any_of(slots_, [channel](const auto& each) { return each == channel; });
  }

 private:
  std::array<std::atomic<ibv_comp_channel*>, 64> slots_{};
  std::atomic<std::size_t> next_{0};
};

constinit EndedChannels ended_channels;

}  // namespace

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return null_on_error([&]() -> Result<ibv_comp_channel*> {
    if (context == nullptr) return errno_code(EINVAL);
    const auto channel = provider_of(context).create_comp_channel(context);
    if (channel) ended_channels.remove(*channel);
    return channel;
  });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel == nullptr) return EINVAL;
  if (ended_channels.has(channel)) return EBADF;
  ended_channels.add(channel);  // before its memory is free: another thread may be about to use it
  const int error =
      errno_on_error([&] { return provider_of(channel->context).destroy_comp_channel(channel); });
  if (error != 0) ended_channels.remove(channel);
  return error;
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  return null_on_error([&]() -> Result<ibv_cq*> {
    if (context == nullptr) return errno_code(EINVAL);
    if (channel != nullptr && ended_channels.has(channel)) return errno_code(EBADF);
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
  if (ended_channels.has(channel)) return fail(EBADF);
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
