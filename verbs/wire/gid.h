// Compares GIDs, which rdma-core defines as a union without operators.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::wire {

/// Whether two GIDs are equal. The function compares 8 bytes at a time, since it is called for
/// every packet.
[[nodiscard]] inline bool same(const ibv_gid& a, const ibv_gid& b) {
  return a.global.subnet_prefix == b.global.subnet_prefix &&
         a.global.interface_id == b.global.interface_id;
}

}  // namespace anyrdma::wire
