#include "verbs/soft/mad_packet.h"

#include <cstring>

#include "verbs/soft/wire/headers.h"

namespace anyrdma::verbs::soft {
namespace {

constexpr std::uint16_t kGsiSourcePort = 0xc000;
constexpr std::size_t kDethAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth);
constexpr std::size_t kMadAt = kDethAt + roce::Deth::kBytes;

}  // namespace

void write_mad(Packet& packet, const MadAddress& to, wire::Psn psn,
               std::span<const std::uint8_t, kMadBytes> mad) {
  packet.source = to.source;
  packet.destination = to.destination;
  packet.udp_source_port = kGsiSourcePort;
  packet.traffic_class = to.traffic_class;
  roce::Bth bth;
  bth.opcode = roce::kUdSendOnly;
  bth.destination = to.qpn;
  bth.psn = psn;
  const std::span bytes(packet.storage);
  bth.serialize(bytes.first<roce::Bth::kBytes>());
  roce::Deth{kGsiQueueKey, wire::kGsiQpn}.serialize(bytes.subspan<kDethAt, roce::Deth::kBytes>());
  std::memcpy(bytes.data() + kMadAt, mad.data(), kMadBytes);
  std::memset(bytes.data() + kMadAt + kMadBytes, 0, roce::kIcrcBytes);
  packet.size = kMadAt + kMadBytes + roce::kIcrcBytes;
}

std::optional<std::span<const std::uint8_t, kMadBytes>> mad_in(const Packet& packet) {
  const roce::Envelope envelope = roce::open(packet.payload());
  const bool is_mad = envelope.error == roce::DecodeError::kNone &&
                      envelope.bth.opcode == roce::kUdSendOnly &&
                      envelope.bth.destination == wire::kGsiQpn &&
                      packet.size >= kMadAt + kMadBytes + roce::kIcrcBytes;
  if (!is_mad) return std::nullopt;
  return packet.payload().subspan<kMadAt, kMadBytes>();
}

}  // namespace anyrdma::verbs::soft
