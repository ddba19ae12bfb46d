#include "verbs/soft/fuzz/fuzz_packet.h"

#include <algorithm>
#include <span>
#include <vector>

#include "verbs/assert.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::verbs::soft::fuzz {

namespace {

void payload(std::span<const std::uint8_t> bytes) {
  const roce::Decoded decoded = roce::decode(bytes);
  if (decoded.error != roce::DecodeError::kNone) return;
  const std::size_t header = roce::kHeaderBytes[decoded.headers.bth.opcode];
  CM_ASSERT(header + decoded.payload.size() + roce::kIcrcBytes <= bytes.size());
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  roce::encode(decoded.headers, std::span(copy).first(header));
  const roce::Decoded again = roce::decode(copy);
  CM_ASSERT(again.error == roce::DecodeError::kNone);
  std::vector<std::uint8_t> twice(copy);
  roce::encode(again.headers, std::span(twice).first(header));
  CM_ASSERT(copy == twice);
}

void routing(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < roce::kRoutingHeaderBytes) return;
  const auto routing = roce::read_routing_header(bytes.first<roce::kRoutingHeaderBytes>());
  if (!routing) return;
  PacketPool pool;
  const PacketPtr packet = pool.take();
  packet->source = routing->source;
  packet->destination = routing->destination;
  packet->traffic_class = routing->traffic_class;
  packet->hop_limit = routing->hop_limit;
  const auto again = roce::read_routing_header(roce::routing_header_of(*packet));
  CM_ASSERT(again.has_value());
  CM_ASSERT(std::ranges::equal(again->source.raw, routing->source.raw));
  CM_ASSERT(std::ranges::equal(again->destination.raw, routing->destination.raw));
  CM_ASSERT(again->traffic_class == routing->traffic_class);
  CM_ASSERT(again->hop_limit == routing->hop_limit);
}

// A UDP socket's view of a sealed packet leads back to what was sealed.
void hidden(Packet& packet) {
  const std::uint16_t identification = packet.ip_identification;
  packet.ip_identification = 0;
  const auto found = roce::hidden_fields_of(packet);
  packet.ip_identification = identification;
  const bool whole = packet.size >= roce::Bth::kBytes + roce::kIcrcBytes;
  const bool possible = whole && (!roce::is_ipv4(packet) || (packet.ip_fragment & 0x8000) == 0);
  CM_ASSERT(found.has_value() == possible);
  CM_ASSERT(!found || !roce::is_ipv4(packet) || found->identification == identification);
}

void frame(std::span<const std::uint8_t> bytes) {
  PacketPool pool;
  const PacketPtr packet = pool.take();
  if (roce::from_frame(bytes, *packet) != roce::FrameError::kNone) return;
  CM_ASSERT(packet->size <= kPacketBytesMax);
  packet->icrc_valid = false;
  roce::seal(*packet);
  const std::size_t shortest = roce::Bth::kBytes + roce::kIcrcBytes;
  CM_ASSERT(packet->size < shortest || roce::icrc_ok(*packet));
  hidden(*packet);
  const auto written = roce::to_frame(*packet, {}, {});
  const PacketPtr again = pool.take();
  CM_ASSERT(roce::from_frame(written, *again) == roce::FrameError::kNone);
  CM_ASSERT(std::ranges::equal(again->payload(), packet->payload()));
  payload(packet->payload());
}

}  // namespace

int fuzz_packet(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  payload(bytes);
  routing(bytes);
  frame(bytes);
  if (const auto records = roce::pcap::parse(bytes))
    for (const roce::pcap::Record& record : *records) frame(record.frame);
  return 0;
}

}  // namespace anyrdma::verbs::soft::fuzz
