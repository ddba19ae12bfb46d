// Sends the IP packets of processes' sockets (TCP, UDP, ICMP) over the world's links, as the host's
// kernel would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sim/host.h"
#include "sim/tcp/endpoint.h"
#include "transport/soft/address.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim::programs {

using transport::soft::Address;

/// A packet without an outgoing interface is lost.
class IpSender {
 public:
  void send(Host& from, const Address& source, const Address& destination,
            const tcp::Segment& segment);
  /// Sends a UDP datagram, in IP fragments if it is too long for one packet.
  void send(Host& from, const Address& source, const Address& destination,
            std::span<const std::byte> datagram);
  /// Sends an ICMP error to the sender of the packet `lost`, because no socket has its port.
  void refuse(Host& from, const verbs::soft::Packet& lost);

 private:
  void prepare(const Address& source, const Address& destination);
  void send_packet(Host& from);

  std::unique_ptr<verbs::soft::Packet> packet_ = std::make_unique<verbs::soft::Packet>();
  std::uint16_t identification_ = 0;  ///< of what goes in parts
};

/// A received segment.
struct TcpArrival {
  Address local;
  Address peer;
  tcp::Segment segment;
};
/// A received UDP datagram, with the addresses of this host and of the sender.
struct UdpArrival {
  Address local;
  Address peer;
  std::span<const std::byte> data;
};
/// Views. nullopt: it is none.
[[nodiscard]] std::optional<TcpArrival> tcp_arrival(const verbs::soft::Packet& packet);
[[nodiscard]] std::optional<UdpArrival> udp_arrival(const ibv_gid& source,
                                                    const ibv_gid& destination,
                                                    std::span<const std::uint8_t> payload);

}  // namespace anyrdma::sim::programs
