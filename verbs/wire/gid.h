// Comparing GIDs, which rdma-core has as a union without operators.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::wire {

/// By halves: it is on the path of every packet.
[[nodiscard]] inline bool same(const ibv_gid& a, const ibv_gid& b) {
  return a.global.subnet_prefix == b.global.subnet_prefix &&
         a.global.interface_id == b.global.interface_id;
}

}  // namespace anyrdma::wire
