// Events in words.
#pragma once

#include <rdma/rdma_cma.h>

#include <string>

#include "tests/conformance/calls.h"

namespace anyrdma::conformance {

class Party;
class Stage;

/// How many RDMA reads and atomics a device serves and starts per queue pair; zeros for none.
/// Devices differ, so the records call these numbers "max".
struct DepthLimits {
  unsigned serves = 0;
  unsigned starts = 0;
};
[[nodiscard]] DepthLimits depth_limits(const Calls& calls, ibv_context* device);
/// "max", or the number.
[[nodiscard]] std::string depth_text(unsigned value, unsigned maximum);

/// "REJECTED 28 data=148 00*148": the type, the status if it is not 0, and every field that is not
/// zero, as `reader` understands it.
[[nodiscard]] std::string describe_event(Stage& stage, const Party& reader,
                                         const rdma_cm_event& event);
/// "TCP".
[[nodiscard]] std::string space_text(rdma_port_space space);
/// " data=5 hello resources=1": what is not the default.
struct Param;
[[nodiscard]] std::string param_text(const Param& param);

}  // namespace anyrdma::conformance
