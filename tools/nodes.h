// What a kernel would show of our devices in /sys and /dev, as files in a directory that
// libanyrdma-nodes.so (verbs/c_api/device_nodes.cc) leads programs into.
#pragma once

#include <string>

#include "transport/transport.h"

namespace anyrdma::tools {

/// The directory for the transport's devices as they are now; it is written unless it is there from
/// an earlier run, and stays until the system is started anew: others may have it open. Empty: none
/// can be made, or a device just vanished. Outside the critical section.
[[nodiscard]] std::string make_nodes(transport::Transport& transport);

}  // namespace anyrdma::tools
