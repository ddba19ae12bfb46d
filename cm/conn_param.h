// What librdmacm makes of an rdma_conn_param before it goes down (L/cma.c:ucma_valid_param).
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

#include "transport/transport.h"

namespace anyrdma::cm {

using verbs::Result;

/// How many RDMA reads and atomics one side serves and starts.
struct Depths {
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  bool operator==(const Depths&) const = default;
};

/// EINVAL when `param` (may be null) cannot be used in RDMA_PS_TCP: depths above the device's, or
/// null without a QP. Other port spaces take anything (L/cma.c:ucma_valid_param).
[[nodiscard]] Result<void> check_conn_param(const rdma_conn_param* param, rdma_port_space space,
                                            bool has_qp, Depths device);

/// 0xFF and null become the device's maxima, retry counts at most 7, QPN 24 bits.
[[nodiscard]] transport::ConnectionParameters parameters_for_connect(const rdma_conn_param* param,
                                                                     Depths device);
/// 0xFF and null become what the request offers, at most the device's maxima.
[[nodiscard]] transport::ConnectionParameters parameters_for_accept(const rdma_conn_param* param,
                                                                    Depths device,
                                                                    Depths requested);

}  // namespace anyrdma::cm
