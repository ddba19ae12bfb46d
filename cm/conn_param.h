// Checks and normalises an rdma_conn_param as librdmacm does before it passes it to the kernel
// (L/cma.c:ucma_valid_param).
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

#include "transport/transport.h"

namespace anyrdma::cm {

using verbs::Result;

/// The numbers of RDMA READs and atomic operations that one side serves and starts at the same
/// time.
struct Depths {
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  bool operator==(const Depths&) const = default;
};

/// Checks the parameters of connect or accept. `param` may be null. EINVAL for RDMA_PS_TCP: depths
/// above the device's, or null without a QP. Other port spaces accept any values
/// (L/cma.c:ucma_valid_param).
[[nodiscard]] Result<void> check_conn_param(const rdma_conn_param* param, rdma_port_space space,
                                            bool has_qp, Depths device);

/// Returns the parameters for connect: 0xFF and null become the device's maxima. Retry counts are
/// limited to 7, and the QPN to 24 bits.
[[nodiscard]] transport::ConnectionParameters parameters_for_connect(const rdma_conn_param* param,
                                                                     Depths device);
/// Returns the parameters for accept: 0xFF and null become the request's values, at most the
/// device's maxima.
[[nodiscard]] transport::ConnectionParameters parameters_for_accept(const rdma_conn_param* param,
                                                                    Depths device,
                                                                    Depths requested);

}  // namespace anyrdma::cm
