#include "recording/packets/ip_packet.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "transport/soft/address.h"
#include "verbs/assert.h"
#include "verbs/soft/frame.h"
#include "verbs/wire/layout.h"

namespace anyrdma::recording {
namespace {

using verbs::soft::Packet;

namespace tcp {
constexpr wire::Field kSource{0, 0, 16};
constexpr wire::Field kDestination{2, 0, 16};
constexpr wire::Field kSequence{4, 0, 32};
constexpr wire::Field kAcknowledged{8, 0, 32};
constexpr wire::Field kHeaderWords{12, 0, 4};
constexpr wire::Field kReserved{12, 4, 4};
constexpr wire::Field kFlags{13, 0, 8};
constexpr wire::Field kWindow{14, 0, 16};
constexpr wire::Field kChecksum{16, 0, 16};
constexpr wire::Field kUrgent{18, 0, 16};
static_assert(wire::tiles(std::array{kSource, kDestination, kSequence, kAcknowledged, kHeaderWords,
                                     kReserved, kFlags, kWindow, kChecksum, kUrgent},
                          TcpHeader::kBytes));
}  // namespace tcp

namespace udp {
constexpr wire::Field kSource{0, 0, 16};
constexpr wire::Field kDestination{2, 0, 16};
constexpr wire::Field kLength{4, 0, 16};
constexpr wire::Field kChecksum{6, 0, 16};
static_assert(wire::tiles(std::array{kSource, kDestination, kLength, kChecksum},
                          UdpHeader::kBytes));
}  // namespace udp

namespace icmp {
constexpr wire::Field kType{0, 0, 8};
constexpr wire::Field kCode{1, 0, 8};
constexpr wire::Field kChecksum{2, 0, 16};
constexpr wire::Field kUnused{4, 0, 32};
constexpr std::size_t kBytes = 8;
static_assert(wire::tiles(std::array{kType, kCode, kChecksum, kUnused}, kBytes));
constexpr std::uint8_t kUnreachable = 3;
constexpr std::uint8_t kPort = 3;
constexpr std::uint8_t kUnreachableV6 = 1;
constexpr std::uint8_t kPortV6 = 4;
}  // namespace icmp

namespace v6_fragment {
constexpr wire::Field kNext{0, 0, 8};
constexpr wire::Field kReserved{1, 0, 8};
constexpr wire::Field kOffset{2, 0, 13};
constexpr wire::Field kReserved2{3, 5, 2};
constexpr wire::Field kMore{3, 7, 1};
constexpr wire::Field kIdentification{4, 0, 32};
constexpr std::size_t kBytes = 8;
static_assert(wire::tiles(std::array{kNext, kReserved, kOffset, kReserved2, kMore, kIdentification},
                          kBytes));
}  // namespace v6_fragment

constexpr std::uint16_t kDoNotFragment = 0x4000;
constexpr std::uint16_t kMoreFragments = 0x2000;
constexpr std::uint16_t kOffsetMask = 0x1fff;
constexpr std::size_t kOffsetUnit = 8;

bool is_v4(const ibv_gid& gid) {
  return transport::soft::Address::from_gid(gid).family == AF_INET;
}

std::uint64_t add_up(std::uint64_t sum, std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += static_cast<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  return sum;
}

/// Over what IP says of it, too, except for IPv4's ICMP.
std::uint16_t checksum(const ibv_gid& source, const ibv_gid& destination, std::uint8_t protocol,
                       std::span<const std::uint8_t> payload) {
  std::uint64_t sum = add_up(0, payload);
  if (protocol != kIpIcmp) {
    const std::size_t begin = is_v4(source) && is_v4(destination) ? 12 : 0;
    sum += protocol + payload.size();
    sum = add_up(sum, std::span(source.raw).subspan(begin));
    sum = add_up(sum, std::span(destination.raw).subspan(begin));
  }
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::string flags_text(std::uint8_t flags) {
  std::string text;
  static constexpr std::array<const char*, 5> kNames{" FIN", " SYN", " RST", "", " ACK"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((flags >> i & 1) != 0) text += kNames[i];
  }
  return text;
}

}  // namespace

bool checksum_is_right(const ibv_gid& source, const ibv_gid& destination, std::uint8_t protocol,
                       std::span<const std::uint8_t> payload) {
  return checksum(source, destination, protocol, payload) == 0;
}

// --- TCP ----------------------------------------------------------------------------------------

void write_tcp(Packet& packet, const TcpHeader& header, std::uint16_t segment_max,
               std::uint8_t window_scale, std::span<const std::uint8_t> data) {
  const std::size_t options = header.has(TcpHeader::kSyn) ? TcpHeader::kOptionBytes : 0;
  const std::size_t head = TcpHeader::kBytes + options;
  CM_ASSERT(head + data.size() <= packet.storage.size());
  std::uint8_t* const b = packet.storage.data();
  wire::put<tcp::kSource>(b, header.source);
  wire::put<tcp::kDestination>(b, header.destination);
  wire::put<tcp::kSequence>(b, header.sequence);
  wire::put<tcp::kAcknowledged>(b, header.acknowledged);
  wire::put<tcp::kHeaderWords>(b, static_cast<std::uint8_t>(head / 4));
  wire::put<tcp::kReserved>(b, 0);
  wire::put<tcp::kFlags>(b, header.flags);
  wire::put<tcp::kWindow>(b, header.window);
  wire::put<tcp::kChecksum>(b, 0);
  wire::put<tcp::kUrgent>(b, 0);
  if (options != 0) {
    const std::array<std::uint8_t, TcpHeader::kOptionBytes> kinds{
        2,
        4,
        static_cast<std::uint8_t>(segment_max >> 8),
        static_cast<std::uint8_t>(segment_max),
        1,
        3,
        3,
        window_scale};
    std::copy(kinds.begin(), kinds.end(), b + TcpHeader::kBytes);
  }
  if (!data.empty()) std::memcpy(b + head, data.data(), data.size());
  packet.ip_protocol = kIpTcp;
  packet.size = static_cast<std::uint16_t>(head + data.size());
  wire::put<tcp::kChecksum>(b,
                            checksum(packet.source, packet.destination, kIpTcp, packet.payload()));
}

std::optional<TcpView> read_tcp(std::span<const std::uint8_t> payload) {
  if (payload.size() < TcpHeader::kBytes) return std::nullopt;
  const std::uint8_t* const b = payload.data();
  const std::size_t head = std::size_t{wire::get<tcp::kHeaderWords>(b)} * 4;
  if (head < TcpHeader::kBytes || head > payload.size()) return std::nullopt;
  return TcpView{.header = {.source = wire::get<tcp::kSource>(b),
                            .destination = wire::get<tcp::kDestination>(b),
                            .sequence = wire::get<tcp::kSequence>(b),
                            .acknowledged = wire::get<tcp::kAcknowledged>(b),
                            .flags = wire::get<tcp::kFlags>(b),
                            .window = wire::get<tcp::kWindow>(b)},
                 .data = payload.subspan(head)};
}

// --- UDP ----------------------------------------------------------------------------------------

std::optional<UdpView> read_udp(std::span<const std::uint8_t> payload) {
  if (payload.size() < UdpHeader::kBytes) return std::nullopt;
  const std::uint8_t* const b = payload.data();
  const std::size_t length = wire::get<udp::kLength>(b);
  if (length < UdpHeader::kBytes || length > payload.size()) return std::nullopt;
  return UdpView{.header = {.source = wire::get<udp::kSource>(b),
                            .destination = wire::get<udp::kDestination>(b)},
                 .data = payload.first(length).subspan(UdpHeader::kBytes)};
}

void seal_udp(const ibv_gid& source, const ibv_gid& destination, const UdpHeader& header,
              std::span<std::uint8_t> datagram) {
  CM_ASSERT(datagram.size() >= UdpHeader::kBytes);
  std::uint8_t* const b = datagram.data();
  wire::put<udp::kSource>(b, header.source);
  wire::put<udp::kDestination>(b, header.destination);
  wire::put<udp::kLength>(b, static_cast<std::uint16_t>(datagram.size()));
  wire::put<udp::kChecksum>(b, 0);
  const std::uint16_t sum = checksum(source, destination, kIpUdp, datagram);
  wire::put<udp::kChecksum>(b, sum == 0 ? std::uint16_t{0xffff} : sum);
}

// --- ICMP ---------------------------------------------------------------------------------------

// IPv4: the header and eight bytes (RFC 792); as much for IPv6.
void write_refusal(Packet& packet, const Packet& lost) {
  const bool v4 = roce::is_ipv4(lost);
  packet.source = lost.destination;
  packet.destination = lost.source;
  packet.ip_protocol = v4 ? kIpIcmp : kIpIcmpv6;
  std::uint8_t* const b = packet.storage.data();
  wire::put<icmp::kType>(b, v4 ? icmp::kUnreachable : icmp::kUnreachableV6);
  wire::put<icmp::kCode>(b, v4 ? icmp::kPort : icmp::kPortV6);
  wire::put<icmp::kChecksum>(b, 0);
  wire::put<icmp::kUnused>(b, 0);
  const auto routing = roce::routing_header_of(lost);
  const std::size_t header = v4 ? roce::kIpv4Bytes : roce::kIpv6Bytes;
  std::copy(routing.end() - static_cast<std::ptrdiff_t>(header), routing.end(), b + icmp::kBytes);
  std::copy_n(lost.storage.begin(), UdpHeader::kBytes, b + icmp::kBytes + header);
  packet.size = static_cast<std::uint16_t>(icmp::kBytes + header + UdpHeader::kBytes);
  wire::put<icmp::kChecksum>(
      b, checksum(packet.source, packet.destination, packet.ip_protocol, packet.payload()));
}

std::optional<UdpHeader> read_refusal(const Packet& packet) {
  const bool v4 = packet.ip_protocol == kIpIcmp;
  const std::size_t header = v4 ? roce::kIpv4Bytes : roce::kIpv6Bytes;
  const std::uint8_t* const b = packet.storage.data();
  if (packet.size < icmp::kBytes + header + UdpHeader::kBytes) return std::nullopt;
  if (wire::get<icmp::kType>(b) != (v4 ? icmp::kUnreachable : icmp::kUnreachableV6) ||
      wire::get<icmp::kCode>(b) != (v4 ? icmp::kPort : icmp::kPortV6))
    return std::nullopt;
  const std::uint8_t* const quoted = b + icmp::kBytes + header;
  return UdpHeader{.source = wire::get<udp::kSource>(quoted),
                   .destination = wire::get<udp::kDestination>(quoted)};
}

// --- fragments ----------------------------------------------------------------------------------

std::optional<Fragment> fragment_of(const Packet& packet) {
  if (packet.ip_protocol == kIpv6Fragment) {
    if (packet.size < v6_fragment::kBytes) return std::nullopt;
    const std::uint8_t* const b = packet.storage.data();
    return Fragment{.protocol = wire::get<v6_fragment::kNext>(b),
                    .identification = wire::get<v6_fragment::kIdentification>(b),
                    .offset = wire::get<v6_fragment::kOffset>(b) * kOffsetUnit,
                    .more = wire::get<v6_fragment::kMore>(b) != 0,
                    .data = packet.payload().subspan(v6_fragment::kBytes)};
  }
  if ((packet.ip_fragment & (kMoreFragments | kOffsetMask)) == 0) return std::nullopt;
  return Fragment{.protocol = packet.ip_protocol,
                  .identification = packet.ip_identification,
                  .offset = (packet.ip_fragment & kOffsetMask) * kOffsetUnit,
                  .more = (packet.ip_fragment & kMoreFragments) != 0,
                  .data = packet.payload()};
}

void write_fragment(Packet& packet, const Fragment& fragment) {
  std::uint8_t* b = packet.storage.data();
  const auto units = static_cast<std::uint16_t>(fragment.offset / kOffsetUnit);
  std::size_t head = 0;
  if (roce::is_ipv4(packet)) {
    packet.ip_protocol = fragment.protocol;
    packet.ip_identification = static_cast<std::uint16_t>(fragment.identification);
    packet.ip_fragment = static_cast<std::uint16_t>(units | (fragment.more ? kMoreFragments : 0));
  } else {
    head = v6_fragment::kBytes;
    packet.ip_protocol = kIpv6Fragment;
    packet.ip_fragment = kDoNotFragment;
    wire::put<v6_fragment::kNext>(b, fragment.protocol);
    wire::put<v6_fragment::kReserved>(b, 0);
    wire::put<v6_fragment::kOffset>(b, units);
    wire::put<v6_fragment::kReserved2>(b, 0);
    wire::put<v6_fragment::kMore>(b, fragment.more ? 1 : 0);
    wire::put<v6_fragment::kIdentification>(b, fragment.identification);
  }
  CM_ASSERT(head + fragment.data.size() <= packet.storage.size());
  std::copy(fragment.data.begin(), fragment.data.end(), b + head);
  packet.size = static_cast<std::uint16_t>(head + fragment.data.size());
}

// --- text ---------------------------------------------------------------------------------------

// Of a fragment, no data: only the first has a header, and that may be anything.
std::vector<std::uint8_t> ip_head(const Packet& packet) {
  if (packet.ip_protocol != kIpv6Fragment && fragment_of(packet)) return {};
  std::size_t size = UdpHeader::kBytes;
  std::size_t sum_at = udp::kChecksum.byte;
  if (packet.ip_protocol == kIpTcp) {
    size = TcpHeader::kBytes;
    sum_at = tcp::kChecksum.byte;
  } else if (packet.ip_protocol == kIpIcmp || packet.ip_protocol == kIpIcmpv6) {
    sum_at = icmp::kChecksum.byte;
  } else if (packet.ip_protocol != kIpUdp) {
    sum_at = size;
  }
  const auto front = packet.payload().first(std::min<std::size_t>(size, packet.size));
  std::vector<std::uint8_t> head(front.begin(), front.end());
  for (std::size_t i = sum_at; i < std::min(sum_at + 2, head.size()); ++i) head[i] = 0;
  return head;
}

std::string ip_text(std::uint8_t protocol, std::uint16_t fragment,
                    std::span<const std::uint8_t> head, std::size_t size) {
  std::string text;
  const std::uint8_t* const b = head.data();
  if (protocol == kIpv6Fragment && head.size() == v6_fragment::kBytes) {
    append(text, "IP fragment offset=%zu length=%zu",
           wire::get<v6_fragment::kOffset>(b) * kOffsetUnit, size - head.size());
  } else if ((fragment & (kMoreFragments | kOffsetMask)) != 0) {
    append(text, "IP fragment offset=%zu length=%zu", (fragment & kOffsetMask) * kOffsetUnit, size);
  } else if (protocol == kIpTcp && head.size() == TcpHeader::kBytes) {
    const std::size_t bytes = std::size_t{wire::get<tcp::kHeaderWords>(b)} * 4;
    append(text, "TCP %u>%u", wire::get<tcp::kSource>(b), wire::get<tcp::kDestination>(b));
    text += flags_text(wire::get<tcp::kFlags>(b));
    append(text, " seq=%u ack=%u window=%u length=%zu", wire::get<tcp::kSequence>(b),
           wire::get<tcp::kAcknowledged>(b), wire::get<tcp::kWindow>(b),
           size - std::min(size, bytes));
  } else if (protocol == kIpUdp && head.size() == UdpHeader::kBytes) {
    append(text, "UDP %u>%u length=%zu", wire::get<udp::kSource>(b),
           wire::get<udp::kDestination>(b), size - UdpHeader::kBytes);
  } else if ((protocol == kIpIcmp || protocol == kIpIcmpv6) && head.size() >= 2) {
    append(text, "ICMP type=%u code=%u", wire::get<icmp::kType>(b), wire::get<icmp::kCode>(b));
  } else {
    append(text, "IP protocol=%u length=%zu", protocol, size);
  }
  return text;
}

}  // namespace anyrdma::recording
