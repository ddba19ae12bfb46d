// The machine's addresses that a process uses for RoCE v2, and properties of their interfaces.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/soft/address.h"
#include "transport/udp/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

struct LocalAddress {
  soft::Address address{};  ///< port 0
  int interface = 0;        ///< index of the interface that has it
  std::uint32_t mtu = 0;    ///< of that interface
  bool neighbours = false;  ///< hosts on it have link addresses, found by ARP or NDP
};

/// The largest number of addresses: the size of the GID table.
inline constexpr std::size_t kLocalAddressesMax = 16;

/// The addresses that `wanted` names, in that order, or, where it is empty, those of all interfaces
/// that are up, IPv4 before IPv6, except loopback and link-local ones. At most kLocalAddressesMax.
/// Asks the system, in the calling thread's network namespace. Errors: UdpErrc.
[[nodiscard]] verbs::Result<std::vector<LocalAddress>> local_addresses(
    const std::vector<std::string>& wanted);

/// The largest path MTU whose packets fit into frames of that interface MTU (kernel:
/// eth_mtu_int_to_enum): 1024 for Ethernet's 1500.
[[nodiscard]] ibv_mtu path_mtu_for(std::uint32_t interface_mtu);

}  // namespace anyrdma::transport::udp
