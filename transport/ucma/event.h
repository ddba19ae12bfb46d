// A copy of an event of the system's librdmacm. Because it is a copy, the event is acknowledged at
// once. So calls that wait for acknowledgements, such as rdma_destroy_id, never wait for this
// library.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>

#include "transport/transport.h"

namespace anyrdma::transport::ucma {

class Event {
 public:
  /// Copies an event. `type` is the queue pair type of the event's id; `ece` are the options that
  /// the peer announced.
  Event(const rdma_cm_event& event, ibv_qp_type type, const ibv_ece& ece);

  [[nodiscard]] rdma_cm_event_type type() const { return raw_.event; }
  /// Returns the event in the form of an upcall. The result refers to this object.
  [[nodiscard]] EndpointEvent view() const;

 private:
  [[nodiscard]] bool speaks_of_a_group() const;

  rdma_cm_event raw_;
  ibv_qp_type qp_type_;
  ibv_ece ece_;
  MembershipId membership_{};
  std::uint8_t length_ = 0;
  std::array<std::uint8_t, 255> private_data_;  ///< only the first length_ bytes are used
};

}  // namespace anyrdma::transport::ucma
