// What IP carries in the simulated world besides RoCEv2: TCP, UDP and ICMP, as a Packet's payload.
// Source: RFC 768, 792, 4443, 8200 (4.5), 9293.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// As IP's header says what follows.
inline constexpr std::uint8_t kIpIcmp = 1;
inline constexpr std::uint8_t kIpTcp = 6;
inline constexpr std::uint8_t kIpUdp = 17;
inline constexpr std::uint8_t kIpv6Fragment = 44;
inline constexpr std::uint8_t kIpIcmpv6 = 58;

struct TcpHeader {
  static constexpr std::size_t kBytes = 20;
  /// The TCP options of a connection's first segments: the longest segment, and the window's scale.
  static constexpr std::size_t kOptionBytes = 8;
  static constexpr std::uint8_t kFin = 1;
  static constexpr std::uint8_t kSyn = 2;
  static constexpr std::uint8_t kRst = 4;
  static constexpr std::uint8_t kPush = 8;
  static constexpr std::uint8_t kAck = 16;

  std::uint16_t source = 0;
  std::uint16_t destination = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 0;

  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

/// Writes a TCP segment to a packet; with kSyn, also its options. The IP addresses must be in the
/// packet already, because the checksum depends on them. Precondition: the segment fits.
void write_tcp(verbs::soft::Packet& packet, const TcpHeader& header, std::uint16_t segment_max,
               std::uint8_t window_scale, std::span<const std::uint8_t> data);
/// nullopt: it is none, or cut off.
struct TcpView {
  TcpHeader header{};
  std::span<const std::uint8_t> data{};
};
[[nodiscard]] std::optional<TcpView> read_tcp(std::span<const std::uint8_t> payload);

/// The header of a whole datagram, in front of it; the checksum is computed.
struct UdpHeader {
  static constexpr std::size_t kBytes = 8;
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
};
/// A datagram's header and data.
struct UdpView {
  UdpHeader header{};
  std::span<const std::uint8_t> data{};
};
[[nodiscard]] std::optional<UdpView> read_udp(std::span<const std::uint8_t> payload);
/// Writes a UDP header with its checksum to the beginning of `datagram`, which contains the data
/// already.
void seal_udp(const ibv_gid& source, const ibv_gid& destination, const UdpHeader& header,
              std::span<std::uint8_t> datagram);

/// Writes an ICMP error that quotes `lost`: its port has no socket.
void write_refusal(verbs::soft::Packet& packet, const verbs::soft::Packet& lost);
/// Returns the ports of the datagram that an ICMP port-unreachable error quotes. nullopt: the
/// packet is no such error.
[[nodiscard]] std::optional<UdpHeader> read_refusal(const verbs::soft::Packet& packet);

/// A part of a datagram that was too long for one packet.
struct Fragment {
  std::uint8_t protocol = 0;
  std::uint32_t identification = 0;
  std::size_t offset = 0;
  bool more = false;
  std::span<const std::uint8_t> data{};
};
/// nullopt: the packet is whole.
[[nodiscard]] std::optional<Fragment> fragment_of(const verbs::soft::Packet& packet);
/// `data` belongs at `offset`, a multiple of 8.
void write_fragment(verbs::soft::Packet& packet, const Fragment& fragment);

/// Whether the checksum of a whole TCP, UDP or ICMP payload is right.
[[nodiscard]] bool checksum_is_right(const ibv_gid& source, const ibv_gid& destination,
                                     std::uint8_t protocol, std::span<const std::uint8_t> payload);

/// Returns a text such as "TCP 32768>7000 SYN ACK seq=1 ack=2 window=3 length=0". `head`: the bytes
/// from ip_head().
[[nodiscard]] std::string ip_text(std::uint8_t protocol, std::uint16_t fragment,
                                  std::span<const std::uint8_t> head, std::size_t size);
/// Returns the part of a packet's payload that ip_text() needs: the header, with a checksum of
/// zero, because the real one depends on the data.
[[nodiscard]] std::vector<std::uint8_t> ip_head(const verbs::soft::Packet& packet);

}  // namespace anyrdma::sim
