// Returns the IP addresses of a transport's devices.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "transport/transport.h"

namespace anyrdma::transport {

/// Returns the IP addresses of the transport's RoCE devices, each once, with port 0. The addresses
/// come from the GID tables in the order of devices, ports and indices. Addresses of the loopback
/// interface are last. Link-local addresses, devices of other kinds, and devices that are removed
/// meanwhile are left out. Call it outside the critical section (verbs::Runtime::enter). Errors: as
/// Provider::query_port.
[[nodiscard]] Result<std::vector<sockaddr_storage>> own_addresses(Transport& transport);

}  // namespace anyrdma::transport
