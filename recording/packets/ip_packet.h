// Packets of TCP, UDP and ICMP in the simulated world, which also carries RoCEv2. Their content is
// a Packet's payload. Source: RFC 768, 792, 4443, 8200 (4.5), 9293.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/soft/packet.h"

namespace anyrdma::recording {

/// Protocol numbers in the IP header, which say which header follows.
inline constexpr std::uint8_t kIpIcmp = 1;
inline constexpr std::uint8_t kIpTcp = 6;
inline constexpr std::uint8_t kIpUdp = 17;
inline constexpr std::uint8_t kIpv6Fragment = 44;
inline constexpr std::uint8_t kIpIcmpv6 = 58;

struct TcpHeader {
  static constexpr std::size_t kBytes = 20;
  /// The size in bytes of the TCP options of a connection's first segments: maximum segment size,
  /// and window scale.
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

/// Writes a TCP segment to a packet. If kSyn is set in `header`, also writes the TCP options. The
/// IP addresses must be in the packet already, because the checksum depends on them. Precondition:
/// the segment fits into the packet.
void write_tcp(verbs::soft::Packet& packet, const TcpHeader& header, std::uint16_t segment_max,
               std::uint8_t window_scale, std::span<const std::uint8_t> data);
/// The result of read_tcp(), which returns nullopt if the payload is no TCP segment or is cut off.
struct TcpView {
  TcpHeader header{};
  std::span<const std::uint8_t> data{};
};
[[nodiscard]] std::optional<TcpView> read_tcp(std::span<const std::uint8_t> payload);

/// The UDP header in front of a whole datagram. The length and the checksum are computed, so the
/// struct has only the ports.
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
/// Writes a UDP header with its checksum to the first bytes of `datagram`. The data must be behind
/// these bytes already.
void seal_udp(const ibv_gid& source, const ibv_gid& destination, const UdpHeader& header,
              std::span<std::uint8_t> datagram);

/// Writes an ICMP error (port unreachable) that quotes the packet `lost`, whose port has no socket.
void write_refusal(verbs::soft::Packet& packet, const verbs::soft::Packet& lost);
/// Returns the ports of the UDP datagram that an ICMP port-unreachable error quotes. nullopt: the
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
/// Writes a fragment to a packet. `data` begins at `offset` of the datagram, a multiple of 8.
void write_fragment(verbs::soft::Packet& packet, const Fragment& fragment);

/// Whether the checksum of a whole TCP, UDP or ICMP payload is right.
[[nodiscard]] bool checksum_is_right(const ibv_gid& source, const ibv_gid& destination,
                                     std::uint8_t protocol, std::span<const std::uint8_t> payload);

/// Returns a packet of TCP, UDP or ICMP as text, such as "TCP 32768>7000 SYN ACK seq=1 ack=2
/// window=3 length=0". `head`: the bytes from ip_head().
[[nodiscard]] std::string ip_text(std::uint8_t protocol, std::uint16_t fragment,
                                  std::span<const std::uint8_t> head, std::size_t size);
/// Returns the first bytes of a packet's payload, which ip_text() needs: the TCP, UDP or ICMP
/// header. Its checksum is set to zero, because the real one depends on the data.
[[nodiscard]] std::vector<std::uint8_t> ip_head(const verbs::soft::Packet& packet);

}  // namespace anyrdma::recording
