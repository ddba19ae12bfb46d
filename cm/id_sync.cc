// Synchronous ids: blocking calls and the requests of a listener (fact sheet 5.1).
#include "cm/id.h"

namespace anyrdma::cm {

Result<void> Id::complete() {
  if (private_channel_ == nullptr) return {};
  return private_channel_->next();
}

Result<std::unique_ptr<Id>> Id::get_request() {
  if (private_channel_ == nullptr) return verbs::errno_code(EINVAL);
  if (Result<void> arrived = private_channel_->next(); !arrived) return arrived.error();
  // Whatever does not end well stays here, and is acknowledged by the next call (fact 49).
  Event& event = *private_channel_->event();
  if (event.type() != RDMA_CM_EVENT_CONNECT_REQUEST) return verbs::errno_code(EINVAL);
  std::unique_ptr<Id> request = event.take_request();
  request->private_channel_->keep(private_channel_->take());
  return request;
}

}  // namespace anyrdma::cm
