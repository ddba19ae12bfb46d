// The configuration of the transport that uses RoCEv2 over UDP sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/ibcm/profile.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::udp {

/// The largest number of devices of a process.
inline constexpr std::size_t kDevicesMax = 16;

/// The configuration. The transport reads nothing from the environment; its caller (the C API, a
/// tool) does that.
struct UdpConfig {
  /// Local addresses as text, such as "192.0.2.1" or "2001:db8::1". Each interface that has some of
  /// them has one RDMA device with these, in the order of the addresses. Empty: all addresses of
  /// interfaces that are up, except loopback and link-local addresses. If all addresses are
  /// loopback addresses (127.0.0.0/8), other loopback addresses belong to other hosts, so that
  /// processes on one machine can connect without root. Otherwise loopback addresses mean the host
  /// itself, as on Linux.
  std::vector<std::string> addresses;
  /// The addresses of each device, at most kDevicesMax, whichever interfaces have them. Empty: the
  /// interfaces decide, as above; else `addresses` is ignored.
  std::vector<std::vector<std::string>> devices{};
  /// The UDP port of RoCEv2. A process with another port reaches only processes with the same
  /// setting.
  std::uint16_t port = 4791;
  /// The path of a network namespace, such as /run/netns/peer, whose addresses, routes and sockets
  /// are used. Empty: the caller's namespace. To enter another namespace needs CAP_SYS_ADMIN.
  std::string network_namespace;
  /// The limits of the device and the features that it lacks, which verbs::soft::resemble can set
  /// as on another device.
  verbs::soft::HcaConfig device{};
  /// The timing constants of the CM protocol, which are those of one Linux version.
  ibcm::Profile profile = ibcm::kLinux61;
};

}  // namespace anyrdma::transport::udp
