// Checks socket addresses of the families that the connection manager accepts: IPv4, IPv6 and
// InfiniBand's own (AF_IB).
#pragma once

#include <rdma/rdma_cma.h>

#include <cstddef>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

/// Returns the length of a socket address in bytes, which depends on its family. 0: unknown family.
[[nodiscard]] std::size_t length_of(const sockaddr& address);
/// Checks an address from the application. EINVAL: null, or an unknown family.
[[nodiscard]] Result<void> check_address(const sockaddr* address);
/// Returns the port of an address in network byte order. For AF_IB it is the low half of the
/// service id. 0: no port.
[[nodiscard]] __be16 port_of(const sockaddr& address);

}  // namespace anyrdma::cm
