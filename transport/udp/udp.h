// The transport that uses RoCEv2 over UDP sockets. A process with the software HCA exchanges
// packets with kernels' Soft-RoCE, NICs and other such processes on the machine's network. It needs
// no root and no kernel module.
#pragma once

#include <memory>

#include "transport/station/station.h"
#include "transport/udp/config.h"
#include "transport/udp/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// One host with one device, anyrdma0, whose GIDs are the configured addresses. The addresses
/// belong to this process alone: another process that wants the UDP port of the same address gets
/// EADDRINUSE. So RDMA ports are also the process's own. Addresses and routes are the system's. If
/// an id joins a multicast group, the process joins the IP group on the interface.
class Udp : public station::Station {
 public:
  /// Opens the sockets, and starts the background thread. Errors: UdpErrc; explain() returns a
  /// sentence for each.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Udp>> open(const UdpConfig& config = {});
};

}  // namespace anyrdma::transport::udp
