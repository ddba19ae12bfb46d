// The number (slot) of a process in its fabric. Queue pair numbers and comm ids contain the slot of
// the process that made them, so that the fields of a packet identify its destination.
#pragma once

#include <cstdint>
#include <optional>

#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

/// The number of a process in its fabric (the same-host transport): 0 to kSlotCount - 1.
enum class Slot : std::uint16_t {};
inline constexpr std::uint32_t kSlotCount = 1024;
[[nodiscard]] constexpr std::uint32_t value(Slot slot) {
  return static_cast<std::uint32_t>(slot);
}

/// The slot of the gateway in a fabric that has a gateway (FabricConfig). In other fabrics any
/// process may have this slot.
inline constexpr Slot kGatewaySlot{0};

/// The position of the slot in a QPN: the upper 10 of the 24 bits are the slot of the process that
/// made the queue pair.
inline constexpr unsigned kQpnShift = 14;
/// The first QPN of each slot; 0 and 1 are the QPs of management datagrams.
inline constexpr std::uint32_t kFirstQpn = 0x11;
/// The number of QPNs of each slot. The last QPN is left out, because in the last slot it means
/// multicast.
inline constexpr std::uint32_t kQpnCount = (1u << kQpnShift) - kFirstQpn - 1;
static_assert(std::uint64_t{kSlotCount} << kQpnShift == 1u << 24);
inline constexpr std::uint32_t kQpnTagMask = (kSlotCount - 1) << kQpnShift;

/// The position of the slot in a comm id: the upper 10 of the 32 bits are the slot of the process
/// that made the id.
inline constexpr unsigned kCommIdShift = 22;
inline constexpr std::uint32_t kCommIdMask = (1u << kCommIdShift) - 1;
inline constexpr std::uint32_t kCommIdTagMask = ~kCommIdMask;
static_assert(std::uint64_t{kSlotCount} << kCommIdShift == std::uint64_t{1} << 32);

[[nodiscard]] constexpr std::uint32_t first_qpn(Slot slot) {
  return (value(slot) << kQpnShift) + kFirstQpn;
}
[[nodiscard]] constexpr std::uint32_t comm_id_tag(Slot slot) {
  return value(slot) << kCommIdShift;
}
[[nodiscard]] constexpr Slot slot_of(wire::Qpn qpn) {
  return static_cast<Slot>(wire::value(qpn) >> kQpnShift & (kSlotCount - 1));
}
[[nodiscard]] constexpr Slot slot_of(wire::CommId id) {
  return static_cast<Slot>(wire::value(id) >> kCommIdShift);
}

}  // namespace anyrdma::transport::fabric
