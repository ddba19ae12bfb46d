#include "transport/fabric/neighbour_message.h"

#include "verbs/wire/gid.h"
#include "verbs/wire/layout.h"

namespace anyrdma::transport::fabric {
namespace {

using wire::Field;
using wire::get;
using wire::put;

constexpr std::uint8_t kOpcodeOf = 0xc0;  // IBTA vol 1, 9.2.1: the first of the manufacturers'
constexpr Field kOpcode{0, 0, 8};
constexpr Field kKind{1, 0, 8};
constexpr Field kAsker{2, 0, 16};
constexpr Field kMilliseconds{4, 0, 32};
constexpr Field kNumber{8, 0, 64};
constexpr Field kError{16, 0, 32};
constexpr Field kRail{20, 0, 8};
constexpr std::uint16_t kBytes = 21;

}  // namespace

bool NeighbourMessage::operator==(const NeighbourMessage& other) const {
  return kind == other.kind && asker == other.asker && number == other.number &&
         milliseconds == other.milliseconds && error == other.error && rail == other.rail &&
         wire::same(neighbour, other.neighbour);
}

std::optional<NeighbourMessage> NeighbourMessage::parse(const verbs::soft::Packet& packet) {
  const std::uint8_t* const bytes = packet.storage.data();
  if (packet.size != kBytes || get<kOpcode>(bytes) != kOpcodeOf) return std::nullopt;
  if (get<kKind>(bytes) > static_cast<std::uint8_t>(Kind::kAnswer)) return std::nullopt;
  if (get<kAsker>(bytes) >= kSlotCount) return std::nullopt;
  return NeighbourMessage{.kind = static_cast<Kind>(get<kKind>(bytes)),
                          .asker = static_cast<Slot>(get<kAsker>(bytes)),
                          .number = get<kNumber>(bytes),
                          .milliseconds = get<kMilliseconds>(bytes),
                          .error = get<kError>(bytes),
                          .rail = get<kRail>(bytes),
                          .neighbour = packet.destination};
}

void NeighbourMessage::serialize(verbs::soft::Packet& packet) const {
  std::uint8_t* const bytes = packet.storage.data();
  put<kOpcode>(bytes, kOpcodeOf);
  put<kKind>(bytes, static_cast<std::uint8_t>(kind));
  put<kAsker>(bytes, static_cast<std::uint16_t>(asker));
  put<kMilliseconds>(bytes, milliseconds);
  put<kNumber>(bytes, number);
  put<kError>(bytes, error);
  put<kRail>(bytes, rail);
  packet.size = kBytes;
  packet.source = {};
  packet.destination = neighbour;
  packet.udp_source_port = 0;
}

}  // namespace anyrdma::transport::fabric
