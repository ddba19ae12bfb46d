// From a path to what ibv_modify_qp and ibv_create_ah want to know.
#pragma once

#include <infiniband/verbs.h>

#include "transport/ibcm/agent.h"

namespace anyrdma::transport::soft {

/// The way along `path`, whose source has the index `gid_index` in the device's table.
[[nodiscard]] ibv_ah_attr address_vector(const ibcm::Path& path, int gid_index);

}  // namespace anyrdma::transport::soft
