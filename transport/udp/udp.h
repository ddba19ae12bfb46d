// RoCEv2 over UDP sockets: a process with the software HCA on the machine's own network, where it
// meets kernels' Soft-RoCE, NICs and other processes like itself. No root, no kernel module.
#pragma once

#include <memory>

#include "transport/station/station.h"
#include "transport/udp/config.h"
#include "transport/udp/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// One host with one device, anyrdma0, whose GIDs are the configured addresses. The addresses are
/// this process's alone: another one that wants the port of the same address finds it taken. Ports
/// of the RDMA port spaces are therefore the process's own, too. Addresses and routes are the
/// system's; a group that an id joins is joined as an IP group on the interface.
class Udp : public station::Station {
 public:
  /// Opens the sockets, and starts the background thread. Errors: UdpErrc; explain() words them.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Udp>> open(const UdpConfig& config = {});
};

}  // namespace anyrdma::transport::udp
