// Converts between a Packet and an Ethernet frame with IPv4 (as Linux's rxe writes it) or IPv6.
// Used for packet captures, for the ICRC, which covers the IP and UDP headers, and for the headers
// in front of received UD messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verbs/soft/packet.h"

namespace anyrdma::roce {

using verbs::soft::Packet;
using Mac = std::array<std::uint8_t, 6>;

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kIpv4Bytes = 20;
inline constexpr std::size_t kIpv6Bytes = 40;
inline constexpr std::size_t kUdpBytes = 8;

/// Whether both addresses of a packet are IPv4-mapped.
[[nodiscard]] bool is_ipv4(const Packet& packet);

/// Writes the IP and UDP headers of a packet into `bytes`, which must have kIpv6Bytes + kUdpBytes.
/// Returns the part of `bytes` that was written. Over IPv4 the UDP checksum is zero, as rxe sends
/// it; over IPv6 it is computed.
[[nodiscard]] std::span<std::uint8_t> write_ip_udp(const Packet& packet,
                                                   std::span<std::uint8_t, 48> bytes);

/// Whether a GID is a multicast address: IPv4-mapped 224.0.0.0/4, or IPv6 ff00::/8.
[[nodiscard]] bool is_multicast(const ibv_gid& gid);

/// Returns the Ethernet address of a GID. For a multicast group, it is the address that IP defines
/// (RFC 1112, RFC 2464). For another GID, it is a locally administered address made of the GID's
/// last four bytes: simulated hosts have no Ethernet addresses, and captures need stable ones.
[[nodiscard]] Mac mac_from(const ibv_gid& gid);

/// The length of the routing header in front of each received UD message. The routing header is the
/// IPv6 header or, for a packet over IPv4, twenty zero bytes and the IPv4 header, as in Linux (IBTA
/// annex A17.4.5.1).
inline constexpr std::size_t kRoutingHeaderBytes = kIpv6Bytes;
using RoutingHeader = std::array<std::uint8_t, kRoutingHeaderBytes>;
[[nodiscard]] RoutingHeader routing_header_of(const Packet& packet);

/// The fields of a routing header.
struct Routing {
  ibv_gid source{};
  ibv_gid destination{};
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  bool native = false;  ///< whether it is InfiniBand's own GRH, without UDP, as in RoCE v1
};
/// Reads the routing header in front of a received UD message. nullopt: the header is neither an
/// IPv4 header nor an IPv6 header in front of UDP or of InfiniBand's own transport headers. If both
/// are possible, the IPv4 checksum decides.
[[nodiscard]] std::optional<Routing> read_routing_header(
    std::span<const std::uint8_t, kRoutingHeaderBytes> bytes);

/// Returns the Ethernet frame of a packet. The ICRC is copied from the packet as it is, so call
/// seal() before.
[[nodiscard]] std::vector<std::uint8_t> to_frame(const Packet& packet, const Mac& source,
                                                 const Mac& destination);

/// The reason why a frame is not a RoCEv2 packet.
enum class FrameError : std::uint8_t { kNone, kNotIp, kNotRoce, kTruncated, kTooLong, kFragment };

/// Fills `packet` from an Ethernet frame; on error, `packet` is unchanged. The ICRC is marked as
/// computed, so that the receiver checks it.
[[nodiscard]] FrameError from_frame(std::span<const std::uint8_t> frame, Packet& packet);

}  // namespace anyrdma::roce
