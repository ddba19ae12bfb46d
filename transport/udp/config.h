// The configuration of the transport that uses RoCEv2 over UDP sockets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/ibcm/profile.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::udp {

/// Nothing here is read from the environment; the caller (the C API, a tool) does that.
struct UdpConfig {
  /// Local addresses as text, "192.0.2.1" or "2001:db8::1". Empty: all of interfaces that are up,
  /// except loopback and link-local ones. If all are loopback addresses (127.0.0.0/8), other
  /// loopback addresses are other hosts, so several processes on one machine meet without root.
  /// Otherwise loopback addresses mean the host itself, as in Linux.
  std::vector<std::string> addresses;
  /// RoCEv2's. Another one meets processes with the same setting only.
  std::uint16_t port = 4791;
  /// Addresses, routes and sockets are those of the network namespace at this path, for example
  /// /run/netns/peer; empty: the caller's own. To enter another one takes CAP_SYS_ADMIN.
  std::string network_namespace;
  /// Limits of the device, and features that it lacks (verbs::soft::resemble).
  verbs::soft::HcaConfig device{};
  /// Timing constants of the Linux version to resemble.
  ibcm::Profile profile = ibcm::kLinux61;
};

}  // namespace anyrdma::transport::udp
