// The files of a simulated host's RDMA device in /sys and /dev.
#pragma once

#include <string>

#include "sim/host.h"
#include "verbs/nodes/tree.h"
#include "verbs/result.h"

namespace anyrdma::sim {

/// The device that the environment of the host's processes configures; empty: the default.
struct DeviceChoice {
  std::string link_layer;  ///< ANYRDMA_LINK_LAYER
  std::string profile;     ///< ANYRDMA_DEVICE
};

/// The files of the device that processes have on a host whose first interface is a gateway's
/// (transport/fabric/outside.h), before any event. EINVAL: there is no such device, as their
/// drop-in will report.
[[nodiscard]] Result<verbs::nodes::Files> device_files(Host& host, const DeviceChoice& choice);

}  // namespace anyrdma::sim
