#include "verbs/soft/frame.h"

#include <algorithm>
#include <cstring>

#include "verbs/wire/layout.h"

namespace anyrdma::roce {

namespace {

namespace ipv4 {
constexpr wire::Field kVersion{0, 0, 4};
constexpr wire::Field kHeaderWords{0, 4, 4};
constexpr wire::Field kTypeOfService{1, 0, 8};
constexpr wire::Field kTotalLength{2, 0, 16};
constexpr wire::Field kIdentification{4, 0, 16};
constexpr wire::Field kFragment{6, 0, 16};
constexpr wire::Field kTimeToLive{8, 0, 8};
constexpr wire::Field kProtocol{9, 0, 8};
constexpr wire::Field kChecksum{10, 0, 16};
constexpr wire::Field kSource{12, 0, 32};
constexpr wire::Field kDestination{16, 0, 32};
static_assert(wire::tiles(std::array{kVersion, kHeaderWords, kTypeOfService, kTotalLength,
                                     kIdentification, kFragment, kTimeToLive, kProtocol, kChecksum,
                                     kSource, kDestination},
                          kIpv4Bytes));
}  // namespace ipv4

namespace ipv6 {
constexpr wire::Field kVersion{0, 0, 4};
constexpr wire::Field kTrafficClass{0, 4, 8};
constexpr wire::Field kFlowLabel{1, 4, 20};
constexpr wire::Field kPayloadLength{4, 0, 16};
constexpr wire::Field kNextHeader{6, 0, 8};
constexpr wire::Field kHopLimit{7, 0, 8};
constexpr wire::Field kSource{8, 0, 128};
constexpr wire::Field kDestination{24, 0, 128};
static_assert(wire::tiles(std::array{kVersion, kTrafficClass, kFlowLabel, kPayloadLength,
                                     kNextHeader, kHopLimit, kSource, kDestination},
                          kIpv6Bytes));
}  // namespace ipv6

namespace udp {
constexpr wire::Field kSourcePort{0, 0, 16};
constexpr wire::Field kDestinationPort{2, 0, 16};
constexpr wire::Field kLength{4, 0, 16};
constexpr wire::Field kChecksum{6, 0, 16};
static_assert(wire::tiles(std::array{kSourcePort, kDestinationPort, kLength, kChecksum},
                          kUdpBytes));
}  // namespace udp

constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint8_t kProtocolNative = 0x1b;  // InfiniBand (IBTA vol 1, 8.3.5)
constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint16_t kEtherTypeIpv6 = 0x86dd;
constexpr std::uint16_t kMoreFragmentsOrOffset = 0x3fff;
constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_mapped(const ibv_gid& gid) {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), gid.raw);
}

/// Behind IP's header.
std::size_t bytes_carried(const Packet& packet) {
  return packet.ip_protocol == 0 ? kUdpBytes + packet.size : packet.size;
}

std::uint8_t protocol_of(const Packet& packet) {
  return packet.ip_protocol == 0 ? kProtocolUdp : packet.ip_protocol;
}

std::uint32_t sum16(std::uint32_t sum, std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += static_cast<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  return sum;
}

std::uint16_t fold(std::uint32_t sum) {
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void write_ipv4(const Packet& packet, std::uint8_t* b) {
  using namespace ipv4;
  std::memset(b, 0, kIpv4Bytes);
  wire::put<kVersion>(b, 4);
  wire::put<kHeaderWords>(b, 5);
  wire::put<kTypeOfService>(b, packet.traffic_class);
  wire::put<kTotalLength>(b, static_cast<std::uint16_t>(kIpv4Bytes + bytes_carried(packet)));
  wire::put<kIdentification>(b, packet.ip_identification);
  wire::put<kFragment>(b, packet.ip_fragment);
  wire::put<kTimeToLive>(b, packet.hop_limit);
  wire::put<kProtocol>(b, protocol_of(packet));
  std::memcpy(b + kSource.byte, packet.source.raw + 12, 4);
  std::memcpy(b + kDestination.byte, packet.destination.raw + 12, 4);
  wire::put<kChecksum>(b, fold(sum16(0, {b, kIpv4Bytes})));
}

void write_ipv6(const Packet& packet, std::uint8_t* b) {
  using namespace ipv6;
  std::memset(b, 0, kIpv6Bytes);
  wire::put<kVersion>(b, 6);
  wire::put<kTrafficClass>(b, packet.traffic_class);
  wire::put<kPayloadLength>(b, static_cast<std::uint16_t>(bytes_carried(packet)));
  wire::put<kNextHeader>(b, protocol_of(packet));
  wire::put<kHopLimit>(b, packet.hop_limit);
  std::memcpy(b + kSource.byte, packet.source.raw, 16);
  std::memcpy(b + kDestination.byte, packet.destination.raw, 16);
}

// Mandatory over IPv6 (RFC 8200, 8.1); zero is sent as ones.
std::uint16_t checksum_ipv6(const Packet& packet, std::span<const std::uint8_t> header) {
  std::uint32_t sum = kProtocolUdp + static_cast<std::uint32_t>(kUdpBytes + packet.size);
  sum = sum16(sum, packet.source.raw);
  sum = sum16(sum, packet.destination.raw);
  sum = sum16(sum, header);
  const std::uint16_t folded = fold(sum16(sum, packet.payload()));
  return folded == 0 ? std::uint16_t{0xffff} : folded;
}

// What both IP versions say, found before anything is written to the packet.
struct IpHeader {
  FrameError error = FrameError::kNone;
  std::size_t bytes = 0;         // of this header, options included
  std::size_t payload_size = 0;  // UDP header and what follows
  std::uint8_t protocol = 0;
};

IpHeader check_ipv4(std::span<const std::uint8_t> bytes) {
  using namespace ipv4;
  IpHeader out;
  if (bytes.size() < kIpv4Bytes) return {.error = FrameError::kTruncated};
  const std::uint8_t* b = bytes.data();
  out.bytes = std::size_t{wire::get<kHeaderWords>(b)} * 4;
  const std::size_t total = wire::get<kTotalLength>(b);
  if (wire::get<kVersion>(b) != 4) return {.error = FrameError::kNotIp};
  // RoCEv2 knows no IP options (IBTA annex A17.3.1).
  if (out.bytes != kIpv4Bytes) return {.error = FrameError::kNotRoce};
  if (total < out.bytes || total > bytes.size()) return {.error = FrameError::kTruncated};
  if ((wire::get<kFragment>(b) & kMoreFragmentsOrOffset) != 0)
    return {.error = FrameError::kFragment};
  out.payload_size = total - out.bytes;
  out.protocol = wire::get<kProtocol>(b);
  return out;
}

IpHeader check_ipv6(std::span<const std::uint8_t> bytes) {
  using namespace ipv6;
  if (bytes.size() < kIpv6Bytes) return {.error = FrameError::kTruncated};
  const std::uint8_t* b = bytes.data();
  const std::size_t length = wire::get<kPayloadLength>(b);
  if (wire::get<kVersion>(b) != 6) return {.error = FrameError::kNotIp};
  if (length > bytes.size() - kIpv6Bytes) return {.error = FrameError::kTruncated};
  return {.bytes = kIpv6Bytes, .payload_size = length, .protocol = wire::get<kNextHeader>(b)};
}

FrameError check_udp(const IpHeader& ip, const std::uint8_t* b) {
  if (ip.protocol != kProtocolUdp) return FrameError::kNotRoce;
  if (ip.payload_size < kUdpBytes) return FrameError::kTruncated;
  if (wire::get<udp::kDestinationPort>(b) != verbs::soft::kRoceUdpPort) return FrameError::kNotRoce;
  const std::size_t length = wire::get<udp::kLength>(b);
  if (length < kUdpBytes || length > ip.payload_size) return FrameError::kTruncated;
  if (length - kUdpBytes > verbs::soft::kPacketBytesMax) return FrameError::kTooLong;
  return FrameError::kNone;
}

ibv_gid mapped(const std::uint8_t* address) {
  ibv_gid gid{};
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), gid.raw);
  std::memcpy(gid.raw + 12, address, 4);
  return gid;
}

void read_ipv4(const std::uint8_t* b, Packet& packet) {
  packet.source = mapped(b + ipv4::kSource.byte);
  packet.destination = mapped(b + ipv4::kDestination.byte);
  packet.traffic_class = wire::get<ipv4::kTypeOfService>(b);
  packet.hop_limit = wire::get<ipv4::kTimeToLive>(b);
  packet.ip_identification = wire::get<ipv4::kIdentification>(b);
  packet.ip_fragment = wire::get<ipv4::kFragment>(b);
}

void read_ipv6(const std::uint8_t* b, Packet& packet) {
  std::memcpy(packet.source.raw, b + ipv6::kSource.byte, 16);
  std::memcpy(packet.destination.raw, b + ipv6::kDestination.byte, 16);
  packet.traffic_class = wire::get<ipv6::kTrafficClass>(b);
  packet.hop_limit = wire::get<ipv6::kHopLimit>(b);
}

}  // namespace

bool is_ipv4(const Packet& packet) {
  return is_mapped(packet.source) && is_mapped(packet.destination);
}

std::span<std::uint8_t> write_ip_udp(const Packet& packet, std::span<std::uint8_t, 48> bytes) {
  const bool v4 = is_ipv4(packet);
  const std::size_t ip_bytes = v4 ? kIpv4Bytes : kIpv6Bytes;
  if (v4) {
    write_ipv4(packet, bytes.data());
  } else {
    write_ipv6(packet, bytes.data());
  }
  std::uint8_t* b = bytes.data() + ip_bytes;
  wire::put<udp::kSourcePort>(b, packet.udp_source_port);
  wire::put<udp::kDestinationPort>(b, verbs::soft::kRoceUdpPort);
  wire::put<udp::kLength>(b, static_cast<std::uint16_t>(kUdpBytes + packet.size));
  wire::put<udp::kChecksum>(b, 0);
  return bytes.first(ip_bytes + kUdpBytes);
}

RoutingHeader routing_header_of(const Packet& packet) {
  RoutingHeader header{};
  if (is_ipv4(packet)) {
    write_ipv4(packet, header.data() + header.size() - kIpv4Bytes);
  } else {
    write_ipv6(packet, header.data());
  }
  return header;
}

std::optional<Routing> read_routing_header(
    std::span<const std::uint8_t, kRoutingHeaderBytes> bytes) {
  const auto tail = bytes.last<kIpv4Bytes>();
  const std::uint8_t* b = tail.data();
  const bool looks_like_ipv6 = wire::get<ipv6::kVersion>(bytes.data()) == 6;
  // The bytes in front of an IPv4 header are undefined on some hardware. The checksum counts only
  // where they could be IPv6: Linux's Soft-RoCE leaves it out of what it sends to itself.
  if (wire::get<ipv4::kVersion>(b) == 4 && wire::get<ipv4::kHeaderWords>(b) == 5 &&
      (!looks_like_ipv6 || fold(sum16(0, tail)) == 0)) {
    return Routing{.source = mapped(b + ipv4::kSource.byte),
                   .destination = mapped(b + ipv4::kDestination.byte),
                   .traffic_class = wire::get<ipv4::kTypeOfService>(b),
                   .hop_limit = wire::get<ipv4::kTimeToLive>(b)};
  }
  b = bytes.data();
  const auto next_header = wire::get<ipv6::kNextHeader>(b);
  const bool native = next_header == kProtocolNative;
  if (!looks_like_ipv6 || (next_header != kProtocolUdp && !native)) return std::nullopt;
  Routing out{.flow_label = wire::get<ipv6::kFlowLabel>(b),
              .traffic_class = wire::get<ipv6::kTrafficClass>(b),
              .hop_limit = wire::get<ipv6::kHopLimit>(b),
              .native = native};
  std::memcpy(out.source.raw, b + ipv6::kSource.byte, sizeof out.source.raw);
  std::memcpy(out.destination.raw, b + ipv6::kDestination.byte, sizeof out.destination.raw);
  return out;
}

bool is_multicast(const ibv_gid& gid) {
  return is_mapped(gid) ? (gid.raw[12] & 0xf0) == 0xe0 : gid.raw[0] == 0xff;
}

Mac mac_from(const ibv_gid& gid) {
  if (is_multicast(gid)) {
    const auto low = static_cast<std::uint8_t>(gid.raw[13] & 0x7f);
    if (is_mapped(gid)) return {0x01, 0x00, 0x5e, low, gid.raw[14], gid.raw[15]};
    return {0x33, 0x33, gid.raw[12], gid.raw[13], gid.raw[14], gid.raw[15]};
  }
  return {0x02, 0x00, gid.raw[12], gid.raw[13], gid.raw[14], gid.raw[15]};
}

std::vector<std::uint8_t> to_frame(const Packet& packet, const Mac& source,
                                   const Mac& destination) {
  std::array<std::uint8_t, kIpv6Bytes + kUdpBytes> buffer;
  std::span<std::uint8_t> headers = write_ip_udp(packet, buffer);
  if (packet.ip_protocol != 0) {
    headers = headers.first(headers.size() - kUdpBytes);
  } else if (!is_ipv4(packet)) {
    const std::span<std::uint8_t> header = headers.last(kUdpBytes);
    wire::put<udp::kChecksum>(header.data(), checksum_ipv6(packet, header));
  }
  const std::uint16_t type = is_ipv4(packet) ? kEtherTypeIpv4 : kEtherTypeIpv6;
  std::vector<std::uint8_t> frame;
  frame.reserve(kEthernetBytes + headers.size() + packet.size);
  frame.insert(frame.end(), destination.begin(), destination.end());
  frame.insert(frame.end(), source.begin(), source.end());
  frame.push_back(static_cast<std::uint8_t>(type >> 8));
  frame.push_back(static_cast<std::uint8_t>(type));
  frame.insert(frame.end(), headers.begin(), headers.end());
  const std::span<const std::uint8_t> payload = packet.payload();
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

FrameError from_frame(std::span<const std::uint8_t> frame, Packet& packet) {
  if (frame.size() < kEthernetBytes) return FrameError::kTruncated;
  const unsigned type = static_cast<unsigned>(frame[12] << 8) | frame[13];
  if (type != kEtherTypeIpv4 && type != kEtherTypeIpv6) return FrameError::kNotIp;
  const bool v4 = type == kEtherTypeIpv4;
  const auto datagram = frame.subspan(kEthernetBytes);
  const IpHeader ip = v4 ? check_ipv4(datagram) : check_ipv6(datagram);
  if (ip.error != FrameError::kNone) return ip.error;
  const std::uint8_t* b = datagram.data() + ip.bytes;
  const FrameError error = check_udp(ip, b);
  if (error != FrameError::kNone) return error;
  if (v4) {
    read_ipv4(datagram.data(), packet);
  } else {
    read_ipv6(datagram.data(), packet);
  }
  packet.udp_source_port = wire::get<udp::kSourcePort>(b);
  packet.size = static_cast<std::uint16_t>(wire::get<udp::kLength>(b) - kUdpBytes);
  std::memcpy(packet.storage.data(), b + kUdpBytes, packet.size);
  packet.icrc_valid = true;
  return FrameError::kNone;
}

}  // namespace anyrdma::roce
