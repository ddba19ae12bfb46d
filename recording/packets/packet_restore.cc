#include "recording/packets/packet_restore.h"

#include <algorithm>
#include <cstring>

namespace anyrdma::recording {
namespace {

using verbs::soft::Packet;

constexpr std::size_t kPadding = 4;

void put(Packet& packet, std::size_t at, std::span<const std::uint8_t> bytes) {
  const std::size_t room = packet.storage.size() - std::min(at, packet.storage.size());
  std::memcpy(packet.storage.data() + at, bytes.data(), std::min(bytes.size(), room));
}

std::size_t restore_ip(FieldReader& fields, Packet& packet) {
  packet.ip_protocol = fields.take<std::uint8_t>();
  packet.ip_fragment = fields.take<std::uint16_t>();
  const auto size = fields.take<std::uint16_t>();
  const auto head = fields.take_bytes(fields.take<std::uint8_t>());
  if (packet.ip_protocol == 0 || size > packet.storage.size()) return 0;
  packet.size = size;
  put(packet, 0, head);
  return std::min<std::size_t>(size, head.size());
}

}  // namespace

std::size_t restore_packet(FieldReader& fields, Packet& packet) {
  packet.storage.fill(0);
  packet.ip_protocol = 0;
  packet.icrc_valid = false;
  const auto decoded = fields.take<std::uint8_t>();
  if (decoded == kOtherThanRoce) return restore_ip(fields, packet);
  if (decoded != static_cast<std::uint8_t>(roce::DecodeError::kNone)) return 0;
  const auto first = fields.take_bytes(roce::Bth::kBytes);
  put(packet, 0, first);
  const auto bth = roce::Bth::parse(first.first<roce::Bth::kBytes>());
  const std::size_t head = roce::kHeaderBytes[bth.opcode];
  for (const KeptHeader& kept : kKeptHeaders) {
    if ((roce::kOpcodes[bth.opcode].headers & kept.header) == 0) continue;
    const std::size_t at = roce::offset_of(bth.opcode, kept.header);
    put(packet, at + kept.skip, fields.take_bytes(bytes_of(kept.header) - kept.skip));
  }
  const auto length = fields.take<std::uint32_t>();
  const std::size_t padded = (std::size_t{length} + kPadding - 1) / kPadding * kPadding;
  if (padded > packet.storage.size() - head - roce::kIcrcBytes) return 0;
  packet.size = static_cast<std::uint16_t>(head + padded + roce::kIcrcBytes);
  const bool whole = bth.opcode == roce::kUdSendOnly && bth.destination == wire::kGsiQpn;
  if (!whole) return head;
  put(packet, head, fields.take_bytes(length));
  return packet.size;
}

}  // namespace anyrdma::recording
