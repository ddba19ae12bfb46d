// The one place that knows every transport by name. For those who choose one: programs, tools and
// tests.
#pragma once

#include <string_view>

#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Opens a transport:
///   "sim"     a new host in the simulated world of this process. Virtual time passes while the
///             calling thread waits or polls, so two hosts can be served by straight-line code. The
///             world belongs to the thread that opened its first host and to no other; it ends with
///             its last host. Hosts are 10.0.0.1, 10.0.0.2 ..., in the order of opening.
///   "fabric"  this process as one of those of this user on this machine (transport/fabric).
///   "udp"     this process as a host of its own on the machine's network: RoCEv2 over UDP sockets,
///             with kernels and NICs as peers (transport/udp/udp.h).
///   "ucma"    the kernel's connection manager and all of its devices (transport/ucma).
///   "rxe"     the same, after making a Soft-RoCE link unless there is one. A link that was made
///             goes when this process ends.
///   "auto"    "ucma" if that opens, else "fabric".
/// Errors, each with its sentence. EINVAL: no such name, or an option that cannot be; EBUSY: the
/// simulated world belongs to another thread; else of each transport's own list:
/// fabric::FabricErrc, udp::UdpErrc, ucma::UcmaErrc, rxe::RxeErrc.
/// Threads: any, but for "sim".
[[nodiscard]] OpenResult open(std::string_view name, const OpenOptions& options = {});

}  // namespace anyrdma::transport
