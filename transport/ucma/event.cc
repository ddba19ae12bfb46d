#include "transport/ucma/event.h"

#include <cstring>

namespace anyrdma::transport::ucma {

Event::Event(const rdma_cm_event& event, ibv_qp_type type, const ibv_ece& ece)
    : raw_(event), qp_type_(type), ece_(ece) {
  const bool datagrams = type == IBV_QPT_UD;
  const void* data = datagrams ? raw_.param.ud.private_data : raw_.param.conn.private_data;
  if (speaks_of_a_group()) {
    membership_ = MembershipId{reinterpret_cast<std::uintptr_t>(data)};  // what we joined with
    return;
  }
  if (data == nullptr) return;
  length_ = datagrams ? raw_.param.ud.private_data_len : raw_.param.conn.private_data_len;
  std::memcpy(private_data_.data(), data, length_);
}

EndpointEvent Event::view() const {
  EndpointEvent event{.type = raw_.event, .status = raw_.status};
  if (qp_type_ == IBV_QPT_UD) {
    event.ud = &raw_.param.ud;
  } else {
    event.conn = raw_.param.conn;
  }
  event.private_data = {private_data_.data(), length_};
  event.membership = membership_;
  event.ece = ece_;
  return event;
}

bool Event::speaks_of_a_group() const {
  return raw_.event == RDMA_CM_EVENT_MULTICAST_JOIN || raw_.event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

}  // namespace anyrdma::transport::ucma
