// The interface by which a fault plan affects packets. Packet carriers call it for each packet, if
// there is one.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/time.h"

namespace anyrdma::verbs {

/// The fault that affects a packet.
struct Mishap {
  bool lost = false;
  bool corrupted = false;
  bool altered = false;      ///< the gate has written into its message
  bool overtaken = false;    ///< by the next one
  std::uint32_t copies = 0;  ///< besides the packet itself
  Duration late{};           ///< behind its time
  std::uint64_t chance = 0;  ///< a random number, for the bit to flip

  [[nodiscard]] bool any() const {
    return lost || corrupted || altered || overtaken || copies != 0 || late.count() != 0;
  }
};

enum class PacketWay : std::uint8_t { kOut, kIn };

/// Must not call back.
class PacketGate {
 public:
  virtual ~PacketGate() = default;
  /// A packet leaves for another host, or has come from one; `attribute` names the CM message in
  /// it, or is 0. `message` is that message, to be altered, or empty. Inside the critical section.
  [[nodiscard]] virtual Mishap on_packet(PacketWay way, std::uint16_t attribute,
                                         std::span<std::uint8_t> message) = 0;
};

}  // namespace anyrdma::verbs
