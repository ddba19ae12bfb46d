// An event of the system's librdmacm, copied so that it can be acknowledged at once: a call that
// waits for acknowledgements (rdma_destroy_id, rdma_leave_multicast) then never waits for us.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>

#include "transport/transport.h"

namespace anyrdma::transport::ucma {

class Event {
 public:
  /// `type` is the queue pair type of the event's id; `ece` what the peer announced.
  Event(const rdma_cm_event& event, ibv_qp_type type, const ibv_ece& ece);

  [[nodiscard]] rdma_cm_event_type type() const { return raw_.event; }
  /// Returns the event in the form of an upcall; it refers to this object.
  [[nodiscard]] EndpointEvent view() const;

 private:
  [[nodiscard]] bool speaks_of_a_group() const;

  rdma_cm_event raw_;
  ibv_qp_type qp_type_;
  ibv_ece ece_;
  MembershipId membership_{};
  std::uint8_t length_ = 0;
  std::array<std::uint8_t, 255> private_data_;  ///< the first length_ of them
};

}  // namespace anyrdma::transport::ucma
