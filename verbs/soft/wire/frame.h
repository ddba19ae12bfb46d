// A Packet as a whole Ethernet frame and back: IPv4 as Linux's rxe writes it, or IPv6. Used by the
// packet-capture writer, by the ICRC, which covers the IP and UDP headers, and for what
// applications see of those.
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

/// Both addresses of a packet are IPv4-mapped.
[[nodiscard]] bool is_ipv4(const Packet& packet);

/// The IP and UDP headers in front of the packet's payload; `bytes` needs kIpv6Bytes + kUdpBytes.
/// Returns the part in use. UDP checksum: zero over IPv4, as rxe sends it; computed over IPv6.
[[nodiscard]] std::span<std::uint8_t> write_ip_udp(const Packet& packet,
                                                   std::span<std::uint8_t, 48> bytes);

/// A group of hosts: IPv4-mapped 224.0.0.0/4, or IPv6 ff00::/8.
[[nodiscard]] bool is_multicast(const ibv_gid& gid);

/// A group's address, as IP maps it (RFC 1112, RFC 2464). Of any other GID a locally administered
/// one made from its last four bytes: simulated hosts have none of their own, and a capture needs
/// some that are stable.
[[nodiscard]] Mac mac_from(const ibv_gid& gid);

/// The 40 bytes in front of every received datagram: the IPv6 header, or where the packet came over
/// IPv4 twenty bytes of nothing and the IPv4 header, as Linux lays it out (IBTA annex A17.4.5.1).
inline constexpr std::size_t kRoutingHeaderBytes = kIpv6Bytes;
using RoutingHeader = std::array<std::uint8_t, kRoutingHeaderBytes>;
[[nodiscard]] RoutingHeader routing_header_of(const Packet& packet);

/// The content of a routing header.
struct Routing {
  ibv_gid source{};
  ibv_gid destination{};
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  bool native = false;  ///< InfiniBand's own GRH (RoCE v1 has it, too), no UDP behind it
};
/// Reads what the application got. nullopt: neither an IPv4 header nor, in front of UDP or of
/// InfiniBand's own transport headers, an IPv6 one. Where both could be meant, the IPv4 checksum
/// decides.
[[nodiscard]] std::optional<Routing> read_routing_header(
    std::span<const std::uint8_t, kRoutingHeaderBytes> bytes);

/// The frame of a packet. The ICRC is written as it is in the packet: seal it first.
[[nodiscard]] std::vector<std::uint8_t> to_frame(const Packet& packet, const Mac& source,
                                                 const Mac& destination);

/// Why a frame is no RoCEv2 packet.
enum class FrameError : std::uint8_t { kNone, kNotIp, kNotRoce, kTruncated, kTooLong, kFragment };

/// Fills `packet` from an Ethernet frame; the packet is unchanged on error. Marks the ICRC as valid
/// to be checked by the receiver.
[[nodiscard]] FrameError from_frame(std::span<const std::uint8_t> frame, Packet& packet);

}  // namespace anyrdma::roce
