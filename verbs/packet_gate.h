// The interface by which a fault plan affects packets. If the interface is set, the code that
// carries packets between hosts calls it for each packet.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/time.h"

namespace anyrdma::verbs {

/// The fault that affects a packet.
struct Mishap {
  bool lost = false;
  bool corrupted = false;
  bool altered = false;      ///< the gate has changed the CM message in the packet
  bool overtaken = false;    ///< the next packet overtakes this one
  std::uint32_t copies = 0;  ///< extra copies of the packet
  Duration late{};           ///< how much later the packet arrives
  std::uint64_t chance = 0;  ///< a random number, for the bit to flip

  [[nodiscard]] bool any() const {
    return lost || corrupted || altered || overtaken || copies != 0 || late.count() != 0;
  }
};

enum class PacketWay : std::uint8_t { kOut, kIn };

/// Decides what happens to packets. Implementations must not call back into the library.
class PacketGate {
 public:
  virtual ~PacketGate() = default;
  /// Called when a packet leaves for another host or arrives from one, inside the runtime's
  /// critical section. Returns the fault that affects the packet. `attribute`: the attribute id of
  /// the CM message in the packet, or 0. `message`: that CM message, which the function may change,
  /// or empty.
  [[nodiscard]] virtual Mishap on_packet(PacketWay way, std::uint16_t attribute,
                                         std::span<std::uint8_t> message) = 0;
};

}  // namespace anyrdma::verbs
