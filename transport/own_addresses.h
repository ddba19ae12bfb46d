// The IP addresses of a transport's devices.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "transport/transport.h"

namespace anyrdma::transport {

/// Returns the IP addresses of the transport's RoCE devices, each once, with port 0. They come from
/// the GID tables in the order of devices, ports and indices, with addresses of the loopback
/// interface last. Link-local addresses, devices of other kinds, and devices that are removed
/// meanwhile are left out. Outside the critical section. Errors: as Provider::query_port.
[[nodiscard]] Result<std::vector<sockaddr_storage>> own_addresses(Transport& transport);

}  // namespace anyrdma::transport
