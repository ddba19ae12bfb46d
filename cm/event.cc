#include "cm/event.h"

#include "cm/event_record.h"
#include "cm/id.h"
#include "verbs/assert.h"

namespace anyrdma::cm {

Event& Event::operator=(Event&& other) noexcept {
  if (this != &other) {
    ack();
    record_ = std::exchange(other.record_, nullptr);
  }
  return *this;
}

const rdma_cm_event& Event::raw() const {
  CM_ASSERT(record_ != nullptr);
  return record_->raw.event;
}

Id& Event::id() const {
  return Id::from(raw().id);
}

Id* Event::listen_id() const {
  return raw().listen_id == nullptr ? nullptr : &Id::from(raw().listen_id);
}

std::span<const std::uint8_t> Event::private_data() const {
  const rdma_conn_param& param = conn();
  return {static_cast<const std::uint8_t*>(param.private_data), param.private_data_len};
}

std::unique_ptr<Id> Event::take_request() {
  CM_ASSERT(record_ != nullptr);
  return std::move(record_->request);
}

void Event::ack() {
  if (record_ != nullptr) (void)Id::acknowledge(*std::exchange(record_, nullptr)).has_value();
}

rdma_cm_event* Event::release() {
  CM_ASSERT(record_ != nullptr);
  (void)record_->request.release();  // from here on the application's, by its raw pointer
  return &std::exchange(record_, nullptr)->raw.event;
}

Result<void> Event::ack(rdma_cm_event* event) {
  if (event == nullptr) return verbs::errno_code(EINVAL);
  return Id::acknowledge(EventRecord::from(event));
}

}  // namespace anyrdma::cm
