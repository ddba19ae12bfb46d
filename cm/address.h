// Socket addresses of the families that the connection manager knows: IPv4, IPv6 and InfiniBand's
// own (AF_IB).
#pragma once

#include <rdma/rdma_cma.h>

#include <cstddef>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

/// Bytes of the address by its family; 0: not known.
[[nodiscard]] std::size_t length_of(const sockaddr& address);
/// EINVAL: null, or of an unknown family.
[[nodiscard]] Result<void> check_address(const sockaddr* address);
/// Network order; the low half of the service id for AF_IB; 0 when there is none.
[[nodiscard]] __be16 port_of(const sockaddr& address);

}  // namespace anyrdma::cm
