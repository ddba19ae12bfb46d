// The messages of the mesh: one message for each RoCE datagram, with a short header before the
// bytes from BTH to ICRC; and the hello that opens every connection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/layout.h"

namespace anyrdma::transport::fabric {

/// Every message starts with so many bytes.
inline constexpr std::size_t kPreambleBytes = 44;
using Preamble = std::array<std::uint8_t, kPreambleBytes>;
using PreambleView = std::span<const std::uint8_t, kPreambleBytes>;

enum class MessageKind : std::uint8_t {
  kHello = 1,
  kPacket = 2,
  kRingTaken = 3,   ///< the ring that came along with your hello is mapped here
  kRingBegins = 4,  ///< this was the last packet here: all others are in the ring
  kBell = 5,        ///< there is something in the ring, or room
};

/// Of an equal version only: both ends run the same software on the same machine.
inline constexpr std::uint16_t kMeshVersion = 2;

/// Identifies a member. The first message in each direction of a connection; descriptors come with
/// it.
struct Hello {
  std::uint16_t version = kMeshVersion;
  Slot slot{};
  std::uint8_t descriptors = 0;  ///< so many were sent along
  bool ring = false;             ///< the first of them is a PacketRing's memory
  std::uint64_t incarnation = 0;
  bool operator==(const Hello&) const = default;

  [[nodiscard]] Preamble serialize() const;
  /// nullopt: not a hello, or no such slot.
  [[nodiscard]] static std::optional<Hello> parse(PreambleView bytes);
};

/// A message that says nothing but its kind.
[[nodiscard]] Preamble notice(MessageKind kind);
/// The kind that a message claims.
[[nodiscard]] MessageKind kind_of(PreambleView bytes);

/// The content of a packet's IP and UDP headers.
[[nodiscard]] Preamble preamble_of(const verbs::soft::Packet& packet);
/// Reads the header fields of a packet from its preamble. False: the bytes are no preamble of a
/// packet, and nothing is changed.
[[nodiscard]] bool read_preamble(PreambleView bytes, verbs::soft::Packet& packet);

namespace datagram_layout {
using wire::Field;
inline constexpr Field kKind{0, 0, 8};
inline constexpr Field kTrafficClass{1, 0, 8};
inline constexpr Field kHopLimit{2, 0, 8};
inline constexpr Field kReserved{3, 0, 7};
inline constexpr Field kIcrcValid{3, 7, 1};
inline constexpr Field kUdpSourcePort{4, 0, 16};
inline constexpr Field kIpIdentification{6, 0, 16};
inline constexpr Field kIpFragment{8, 0, 16};
inline constexpr Field kReserved2{10, 0, 16};
inline constexpr Field kSource{12, 0, 128};
inline constexpr Field kDestination{28, 0, 128};
inline constexpr std::array kPacketRows{kKind,      kTrafficClass,  kHopLimit,         kReserved,
                                        kIcrcValid, kUdpSourcePort, kIpIdentification, kIpFragment,
                                        kReserved2, kSource,        kDestination};
static_assert(wire::tiles(kPacketRows, kPreambleBytes));

inline constexpr Field kReserved3{1, 0, 8};
inline constexpr Field kVersion{2, 0, 16};
inline constexpr Field kSlot{4, 0, 16};
inline constexpr Field kDescriptors{6, 0, 8};
inline constexpr Field kReserved4{7, 0, 7};
inline constexpr Field kRing{7, 7, 1};
inline constexpr Field kIncarnation{8, 0, 64};
inline constexpr Field kReserved5{16, 0, 224};
inline constexpr std::array kHelloRows{
    kKind, kReserved3, kVersion, kSlot, kDescriptors, kReserved4, kRing, kIncarnation, kReserved5};
static_assert(wire::tiles(kHelloRows, kPreambleBytes));
}  // namespace datagram_layout

}  // namespace anyrdma::transport::fabric
