#include "verbs/completion_queue.h"

#include <cerrno>

#include "verbs/channels.h"

namespace anyrdma::verbs {

namespace {

constexpr ibv_context make_context() {
  ibv_context context{};
  context.ops.poll_cq = [](ibv_cq*, int, ibv_wc*) { return kNobodyPolled; };
  return context;
}
constinit ibv_context context_of_nobody = make_context();

constexpr ibv_cq make_nobody() {
  ibv_cq nobody{};
  nobody.context = &context_of_nobody;
  return nobody;
}

}  // namespace

constinit ibv_cq no_completion_queue = make_nobody();

Result<CompletionChannel> CompletionChannel::create(ibv_context* context) {
  if (context == nullptr) return errno_code(EINVAL);
  const Result<ibv_comp_channel*> channel = create_channel(context);
  if (!channel) return channel.error();
  return CompletionChannel(*channel);
}

Result<ibv_cq*> CompletionChannel::wait() const {
  if (get() == nullptr) return errno_code(EINVAL);
  return provider_of(get()->context).get_cq_event(get());
}

Result<CompletionQueue> CompletionQueue::create(ibv_context* context, int depth,
                                                const CompletionQueueOptions& options) {
  if (context == nullptr) return errno_code(EINVAL);
  const Result<ibv_cq*> cq = provider_of(context).create_cq(context, depth, options.cq_context,
                                                            options.channel, options.comp_vector);
  if (!cq) return cq.error();
  return CompletionQueue(*cq);
}

Result<void> CompletionQueue::request_notification(Notify what) const {
  if (get() == nullptr) return errno_code(EINVAL);
  const int error = ibv_req_notify_cq(get(), static_cast<int>(what));
  if (error != 0) return errno_code(error);
  return {};
}

void CompletionQueue::acknowledge(unsigned events) const {
  if (get() != nullptr) provider_of(get()->context).ack_cq_events(get(), events);
}

}  // namespace anyrdma::verbs
