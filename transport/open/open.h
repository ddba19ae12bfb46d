// Opens any transport by its name. For programs, tools and tests that choose a transport; no other
// code knows all transports.
#pragma once

#include <string_view>

#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Opens the transport with that name:
/// - "sim": a new host of the simulation in this process. Virtual time passes while the calling
/// thread waits or polls, so one thread can run two hosts. Only the thread that opened the first
/// host may use the simulation, which ends with its last host. The hosts have the addresses
/// 10.0.0.1, 10.0.0.2 ..., in the order of opening.
/// - "fabric": the same-host transport between the processes of this user (transport/fabric).
/// - "udp": RoCEv2 over UDP sockets. This process is a host on the machine's network, which kernels
/// and NICs can reach (transport/udp/udp.h).
/// - "ucma": the kernel's connection manager and all its devices (transport/ucma).
/// - "rxe": like "ucma", after creating a Soft-RoCE link if there is none. A link that was created
/// is removed when this process ends.
/// - "auto": "ucma" if that can be opened, else "fabric".
///
/// Errors of open(), each with a sentence. EINVAL: unknown name, or impossible options. EBUSY: the
/// simulation belongs to another thread. Other errors are those of the transport:
/// fabric::FabricErrc, udp::UdpErrc, ucma::UcmaErrc, rxe::RxeErrc. Threads: any, except for "sim".
[[nodiscard]] OpenResult open(std::string_view name, const OpenOptions& options = {});

}  // namespace anyrdma::transport
