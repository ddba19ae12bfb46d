// Converts between a Packet and an Ethernet frame with IPv4 (as Linux's rxe writes it) or IPv6.
// Used by the packet-capture writer, for the ICRC, which covers the IP and UDP headers, and for the
// headers that UD receives show.
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

/// Writes the IP and UDP headers of the packet; `bytes` needs kIpv6Bytes + kUdpBytes. Returns the
/// part in use. The UDP checksum is zero over IPv4, as rxe sends it, and computed over IPv6.
[[nodiscard]] std::span<std::uint8_t> write_ip_udp(const Packet& packet,
                                                   std::span<std::uint8_t, 48> bytes);

/// Whether the GID is a multicast address: IPv4-mapped 224.0.0.0/4, or IPv6 ff00::/8.
[[nodiscard]] bool is_multicast(const ibv_gid& gid);

/// Returns the Ethernet address of a GID. For a multicast group the address that IP defines (RFC
/// 1112, RFC 2464). For another GID a locally administered address made of its last four bytes,
/// because simulated hosts have none and captures need stable ones.
[[nodiscard]] Mac mac_from(const ibv_gid& gid);

/// Length of the routing header in front of each received UD message: the IPv6 header, or for a
/// packet over IPv4 twenty zero bytes and the IPv4 header, as in Linux (IBTA annex A17.4.5.1).
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
  bool native = false;  ///< InfiniBand's own GRH, also of RoCE v1: without UDP
};
/// Reads a routing header. nullopt: it contains neither an IPv4 header nor an IPv6 header in front
/// of UDP or of InfiniBand's own transport headers. If both are possible, the IPv4 checksum
/// decides.
[[nodiscard]] std::optional<Routing> read_routing_header(
    std::span<const std::uint8_t, kRoutingHeaderBytes> bytes);

/// Returns the Ethernet frame of a packet. The ICRC is written as it is in the packet, so call
/// seal() first.
[[nodiscard]] std::vector<std::uint8_t> to_frame(const Packet& packet, const Mac& source,
                                                 const Mac& destination);

/// The reason why a frame is not a RoCEv2 packet.
enum class FrameError : std::uint8_t { kNone, kNotIp, kNotRoce, kTruncated, kTooLong, kFragment };

/// Fills `packet` from an Ethernet frame; on error the packet is unchanged. Marks the ICRC as
/// computed, so that the receiver checks it.
[[nodiscard]] FrameError from_frame(std::span<const std::uint8_t> frame, Packet& packet);

}  // namespace anyrdma::roce
