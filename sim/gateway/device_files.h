// The files of a simulated host's RDMA devices in /sys and /dev.
#pragma once

#include <string>

#include "sim/host.h"
#include "verbs/nodes/tree.h"
#include "verbs/result.h"

namespace anyrdma::sim {

/// The choice of the kind of RDMA devices of a host, as values of environment variables of its
/// processes. An empty value chooses the default.
struct DeviceChoice {
  std::string link_layer;  ///< ANYRDMA_LINK_LAYER
  std::string profile;     ///< ANYRDMA_DEVICE
};

/// Returns the files in /sys and /dev of the RDMA devices that processes see on a host at present.
/// A removed device has none. The host's interfaces must belong to a gateway
/// (transport/fabric/outside.h). EINVAL: no such device; the drop-in library in the processes will
/// report it.
[[nodiscard]] Result<verbs::nodes::Files> device_files(Host& host, const DeviceChoice& choice);

}  // namespace anyrdma::sim
