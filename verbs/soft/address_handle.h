// The path of a connection or of an address handle: the addresses and fields of a packet's headers
// below the BTH (Ethernet, IP, UDP).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/soft/completion_queue.h"
#include "verbs/soft/packet.h"

namespace anyrdma::verbs::soft {

struct PacketPath {
  ibv_gid source{};
  ibv_gid destination{};
  std::uint16_t udp_source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t port = 1;  ///< the number of the device's port

  /// Returns the path of packets that an address vector describes. `source`: the GID at the address
  /// vector's GID index.
  [[nodiscard]] static PacketPath of(const ibv_ah_attr& address, const ibv_gid& source) {
    constexpr std::uint8_t kDefaultHopLimit = 64;
    const ibv_global_route& grh = address.grh;
    return {.source = source,
            .destination = grh.dgid,
            .traffic_class = grh.traffic_class,
            .hop_limit = grh.hop_limit == 0 ? kDefaultHopLimit : grh.hop_limit,
            .port = address.port_num};
  }

  void address(Packet& packet) const {
    packet.source = source;
    packet.destination = destination;
    packet.udp_source_port = udp_source_port;
    packet.traffic_class = traffic_class;
    packet.hop_limit = hop_limit;
    packet.port = port;
  }
};

/// The struct behind the application's ibv_ah.
struct SoftAh : ibv_ah, LiveHook {
  static constexpr ObjectKind kKind = ObjectKind::kAddressHandle;
  Registration registration;
  PacketPath path{};
};

}  // namespace anyrdma::verbs::soft
