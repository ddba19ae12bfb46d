// Synchronous ids: blocking calls and the requests of a listener (L/ucma_complete,
// rdma_get_request).
#include "cm/id.h"

namespace anyrdma::cm {

Result<void> Id::complete() {
  if (private_channel_ == nullptr) return {};
  return private_channel_->next();
}

Result<std::unique_ptr<Id>> Id::get_request() {
  if (private_channel_ == nullptr) return verbs::errno_code(EINVAL);
  if (Result<void> arrived = private_channel_->next(); !arrived) return arrived.error();
  // Whatever does not end well stays here, and is acknowledged by the next call
  // (L/rdma_get_request).
  Event& event = *private_channel_->event();
  if (event.type() != RDMA_CM_EVENT_CONNECT_REQUEST) return verbs::errno_code(EINVAL);
  if (ep_ != nullptr && ep_->request_qp) {
    ibv_qp_init_attr attr = *ep_->request_qp;
    if (Result<void> made = event.id().create_qp(raw_.id.pd, &attr); !made) return made.error();
  }
  std::unique_ptr<Id> request = event.take_request();
  request->private_channel_->keep(private_channel_->take());
  return request;
}

Result<void> Id::set_request_qp(ibv_pd* pd, const ibv_qp_init_attr* attr) {
  if (private_channel_ == nullptr) return verbs::errno_code(EINVAL);
  if (pd != nullptr) raw_.id.pd = pd;
  if (attr == nullptr) return {};
  if (ep_ == nullptr) ep_ = std::make_unique<EpSettings>();
  ep_->request_qp = *attr;
  ep_->request_qp->qp_type = raw_.id.qp_type;
  return {};
}

void Id::set_connect_prefix(std::span<const std::uint8_t> data) {
  if (data.empty()) return;
  if (ep_ == nullptr) ep_ = std::make_unique<EpSettings>();
  ep_->connect_prefix.assign(data.begin(), data.end());
}

}  // namespace anyrdma::cm
