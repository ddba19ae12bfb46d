#include "transport/fabric/device_message.h"

#include "verbs/wire/layout.h"

namespace anyrdma::transport::fabric {
namespace {

using soft::DeviceChange;
using wire::Field;
using wire::get;
using wire::put;

constexpr std::uint8_t kOpcodeOf = 0xc1;  // IBTA vol 1, 9.2.1: one of the manufacturers'
constexpr Field kOpcode{0, 0, 8};
constexpr Field kKind{1, 0, 8};
constexpr Field kEvent{2, 0, 16};
constexpr Field kNumber{4, 0, 32};
constexpr Field kMade{8, 0, 64};
constexpr Field kLink{16, 0, 32};
constexpr Field kRail{20, 0, 8};
constexpr Field kBits{21, 0, 8};
constexpr Field kNewGuid{22, 0, 8};
constexpr std::uint16_t kBytes = 23;

}  // namespace

std::optional<DeviceMessage> DeviceMessage::parse(const verbs::soft::Packet& packet) {
  const std::uint8_t* const bytes = packet.storage.data();
  if (packet.size != kBytes || get<kOpcode>(bytes) != kOpcodeOf) return std::nullopt;
  if (get<kKind>(bytes) > static_cast<std::uint8_t>(DeviceChange::kLast)) return std::nullopt;
  return DeviceMessage{{.kind = static_cast<DeviceChange::Kind>(get<kKind>(bytes)),
                        .object = {.made = get<kMade>(bytes), .number = get<kNumber>(bytes)},
                        .event = static_cast<ibv_event_type>(get<kEvent>(bytes)),
                        .neighbour = soft::Address::from_gid(packet.destination),
                        .link = soft::LinkNumber{get<kLink>(bytes)},
                        .bits = static_cast<std::uint8_t>(get<kBits>(bytes)),
                        .new_guid = get<kNewGuid>(bytes) != 0},
                       get<kRail>(bytes)};
}

void DeviceMessage::serialize(verbs::soft::Packet& packet) const {
  std::uint8_t* const bytes = packet.storage.data();
  put<kOpcode>(bytes, kOpcodeOf);
  put<kKind>(bytes, static_cast<std::uint8_t>(change.kind));
  put<kEvent>(bytes, static_cast<std::uint16_t>(change.event));
  put<kNumber>(bytes, change.object.number);
  put<kMade>(bytes, change.object.made);
  put<kLink>(bytes, static_cast<std::uint32_t>(change.link));
  put<kRail>(bytes, rail);
  put<kBits>(bytes, change.bits);
  put<kNewGuid>(bytes, std::uint8_t{change.new_guid});
  packet.size = kBytes;
  packet.source = {};
  packet.destination = change.neighbour.gid();
  packet.udp_source_port = 0;
}

}  // namespace anyrdma::transport::fabric
