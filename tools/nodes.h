// Writes the files that a kernel would show for the drop-in's devices in /sys and /dev to a
// directory. libanyrdma-nodes.so (verbs/c_api/device_nodes.cc) redirects programs to it.
#pragma once

#include <string>

#include "transport/transport.h"

namespace anyrdma::tools {

/// Returns the directory with the files of the transport's present devices. It is created unless an
/// earlier run has done so, and remains until the machine restarts, since other processes may use
/// it. Empty: it cannot be created, or a device was just removed. Call outside of critical
/// sections.
[[nodiscard]] std::string make_nodes(transport::Transport& transport);

}  // namespace anyrdma::tools
