// Opens hosts of one simulation one by one.
#pragma once

#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Adds a host to the simulation in this process: see open().
[[nodiscard]] OpenResult open_simulated(const OpenOptions& options);

}  // namespace anyrdma::transport
