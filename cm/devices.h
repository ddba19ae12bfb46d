// Returns the open RDMA devices of a transport.
#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "transport/transport.h"

namespace anyrdma::cm {

/// Returns the open contexts of all present devices, which the member `verbs` of ids also contains.
/// They are valid as long as the transport. Source: rdma_get_devices(3).
[[nodiscard]] std::vector<ibv_context*> devices(transport::Transport& transport);

}  // namespace anyrdma::cm
