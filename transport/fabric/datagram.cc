#include "transport/fabric/datagram.h"

#include <algorithm>
#include <cstring>

namespace anyrdma::transport::fabric {

using namespace datagram_layout;
using wire::get;
using wire::put;

Preamble Hello::serialize() const {
  Preamble bytes{};
  put<kKind>(bytes.data(), static_cast<std::uint8_t>(MessageKind::kHello));
  put<kVersion>(bytes.data(), version);
  put<kSlot>(bytes.data(), static_cast<std::uint16_t>(slot));
  put<kDescriptors>(bytes.data(), descriptors);
  put<kRing>(bytes.data(), ring ? 1 : 0);
  put<kIncarnation>(bytes.data(), incarnation);
  return bytes;
}

std::optional<Hello> Hello::parse(PreambleView bytes) {
  if (get<kKind>(bytes.data()) != static_cast<std::uint8_t>(MessageKind::kHello))
    return std::nullopt;
  if (get<kSlot>(bytes.data()) >= kSlotCount) return std::nullopt;
  return Hello{.version = get<kVersion>(bytes.data()),
               .slot = static_cast<Slot>(get<kSlot>(bytes.data())),
               .descriptors = get<kDescriptors>(bytes.data()),
               .ring = get<kRing>(bytes.data()) != 0,
               .incarnation = get<kIncarnation>(bytes.data())};
}

Preamble notice(MessageKind kind) {
  Preamble bytes{};
  put<kKind>(bytes.data(), static_cast<std::uint8_t>(kind));
  return bytes;
}

MessageKind kind_of(PreambleView bytes) {
  return static_cast<MessageKind>(get<kKind>(bytes.data()));
}

Preamble preamble_of(const verbs::soft::Packet& packet) {
  Preamble preamble{};
  std::uint8_t* bytes = preamble.data();
  put<kKind>(bytes, static_cast<std::uint8_t>(MessageKind::kPacket));
  put<kTrafficClass>(bytes, packet.traffic_class);
  put<kHopLimit>(bytes, packet.hop_limit);
  put<kIcrcValid>(bytes, packet.icrc_valid ? 1 : 0);
  put<kUdpSourcePort>(bytes, packet.udp_source_port);
  put<kIpIdentification>(bytes, packet.ip_identification);
  put<kIpFragment>(bytes, packet.ip_fragment);
  put<kMark>(bytes, static_cast<std::uint16_t>(packet.mark));
  std::ranges::copy(packet.source.raw, wire::bytes_of<kSource>(bytes).begin());
  std::ranges::copy(packet.destination.raw, wire::bytes_of<kDestination>(bytes).begin());
  return preamble;
}

bool read_preamble(PreambleView preamble, verbs::soft::Packet& packet) {
  const std::uint8_t* bytes = preamble.data();
  if (get<kKind>(bytes) != static_cast<std::uint8_t>(MessageKind::kPacket)) return false;
  packet.traffic_class = get<kTrafficClass>(bytes);
  packet.hop_limit = get<kHopLimit>(bytes);
  packet.icrc_valid = get<kIcrcValid>(bytes) != 0;
  packet.udp_source_port = get<kUdpSourcePort>(bytes);
  packet.ip_identification = get<kIpIdentification>(bytes);
  packet.ip_fragment = get<kIpFragment>(bytes);
  packet.mark = get<kMark>(bytes);
  std::ranges::copy(wire::bytes_of<kSource>(bytes), packet.source.raw);
  std::ranges::copy(wire::bytes_of<kDestination>(bytes), packet.destination.raw);
  return true;
}

}  // namespace anyrdma::transport::fabric
