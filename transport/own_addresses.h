// Where a transport's devices are reached.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "transport/transport.h"

namespace anyrdma::transport {

/// The IP addresses that the transport's RoCE devices answer to, each once, with port 0: from the
/// GID tables, in the order of devices, ports and indices, those of the loopback interface last.
/// Link-local addresses are left out, and devices that just vanish. Other kinds of devices have no
/// addresses in their tables. Outside the critical section. Errors: as Provider::query_port.
[[nodiscard]] Result<std::vector<sockaddr_storage>> own_addresses(Transport& transport);

}  // namespace anyrdma::transport
