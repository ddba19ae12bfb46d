// Makes the address vector for ibv_modify_qp and ibv_create_ah from a path.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "transport/ibcm/agent.h"

namespace anyrdma::transport::soft {

/// Returns the address vector of `path`. `gid_index` is the index of the path's source GID in the
/// GID table of the device's port `port`.
[[nodiscard]] ibv_ah_attr address_vector(const ibcm::Path& path, int gid_index, std::uint8_t port);

}  // namespace anyrdma::transport::soft
