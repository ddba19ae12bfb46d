// Finds the machine's addresses that a process uses for RoCE v2, and properties of their
// interfaces.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/soft/address.h"
#include "transport/udp/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

struct LocalAddress {
  soft::Address address{};  ///< with port 0
  int interface = 0;        ///< index of the interface that has the address
  std::uint32_t mtu = 0;    ///< MTU of that interface, in bytes
  bool neighbours = false;  ///< hosts on the interface have link addresses, which ARP or NDP finds
  std::size_t device = 0;   ///< the number of the RDMA device that has the address, from 0
};

/// The largest number of addresses of a device: the size of the GID table.
inline constexpr std::size_t kLocalAddressesMax = 16;

/// Returns the addresses that `wanted` names, in that order. If `wanted` is empty, returns those of
/// all interfaces that are up, IPv4 before IPv6, except loopback and link-local ones. The addresses
/// of one interface belong to one device, which gets at most kLocalAddressesMax; further interfaces
/// than kDevicesMax have no device. Works in the network namespace of the calling thread. Errors:
/// UdpErrc.
[[nodiscard]] verbs::Result<std::vector<LocalAddress>> local_addresses(
    const std::vector<std::string>& wanted);
/// Returns the addresses of each device, as UdpConfig::devices names them. Errors: UdpErrc.
[[nodiscard]] verbs::Result<std::vector<LocalAddress>> local_addresses(
    const std::vector<std::vector<std::string>>& devices);

/// Returns the largest path MTU whose packets fit into frames of that interface MTU (kernel:
/// eth_mtu_int_to_enum). It is 1024 for Ethernet's 1500.
[[nodiscard]] ibv_mtu path_mtu_for(std::uint32_t interface_mtu);

}  // namespace anyrdma::transport::udp
