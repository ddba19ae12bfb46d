// Makes the address vector for ibv_modify_qp and ibv_create_ah from a path.
#pragma once

#include <infiniband/verbs.h>

#include "transport/ibcm/agent.h"

namespace anyrdma::transport::soft {

/// Returns the address vector of `path`. `gid_index` is the index of the path's source GID in the
/// device's GID table.
[[nodiscard]] ibv_ah_attr address_vector(const ibcm::Path& path, int gid_index);

}  // namespace anyrdma::transport::soft
