#include "cm/private_channel.h"

#include "verbs/assert.h"

namespace anyrdma::cm {

Result<void> result_of(const rdma_cm_event& event) {
  if (event.status == 0) return {};
  if (event.event == RDMA_CM_EVENT_REJECTED) return verbs::errno_code(ECONNREFUSED);
  return verbs::errno_code(event.status < 0 ? -event.status : event.status);
}

Result<std::unique_ptr<PrivateChannel>> PrivateChannel::create(transport::Transport& transport,
                                                               rdma_cm_event*& shown) {
  auto channel = EventChannel::create(transport);
  if (!channel) return channel.error();
  return std::unique_ptr<PrivateChannel>(new PrivateChannel(std::move(*channel), shown));
}

Result<void> PrivateChannel::next() {
  forget();
  Result<Event> event = channel_->get();
  if (!event) return event.error();
  keep(std::move(*event));
  return result_of(event_->raw());
}

void PrivateChannel::keep(Event event) {
  forget();
  event_ = std::move(event);
  shown_ = const_cast<rdma_cm_event*>(&event_->raw());  // rdma_cm_id::event is not const
}

Event PrivateChannel::take() {
  CM_ASSERT(event_.has_value());
  Event taken = std::move(*event_);
  forget();
  return taken;
}

void PrivateChannel::forget() {
  event_.reset();
  shown_ = nullptr;
}

}  // namespace anyrdma::cm
