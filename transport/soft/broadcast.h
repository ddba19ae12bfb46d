// The broadcast addresses of IPv4.
#pragma once

#include "transport/soft/address.h"
#include "transport/soft/prefix.h"

namespace anyrdma::transport::soft {

/// Whether `address` is 255.255.255.255 (RFC 919).
[[nodiscard]] bool is_limited_broadcast(const Address& address);

/// Whether `address` means all hosts of the network of an interface that has the address `prefix`:
/// the host part is all ones. Networks of one and two hosts have no such address (RFC 3021).
[[nodiscard]] bool is_broadcast(const Prefix& prefix, const Address& address);

}  // namespace anyrdma::transport::soft
