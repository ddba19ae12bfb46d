// The messages between processes of one fabric (the same-host transport). Each connection begins
// with a Hello in each direction. Then each RoCE packet is one message: a short header, and the
// packet's bytes from BTH to ICRC.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/layout.h"

namespace anyrdma::transport::fabric {

/// The length in bytes of the header with which every message begins.
inline constexpr std::size_t kPreambleBytes = 44;
using Preamble = std::array<std::uint8_t, kPreambleBytes>;
using PreambleView = std::span<const std::uint8_t, kPreambleBytes>;

enum class MessageKind : std::uint8_t {
  kHello = 1,
  kPacket = 2,
  /// The sender has mapped the shared memory (PacketRing) that came with the receiver's Hello.
  kRingTaken = 3,
  /// The last packet through this socket; later packets come through shared memory (PacketRing).
  kRingBegins = 4,
  kBell = 5,  ///< the shared memory (PacketRing) has packets to read, or room for more
};

/// The version of the messages. Both processes must have the same version.
inline constexpr std::uint16_t kMeshVersion = 2;

/// The first message in each direction of a connection, which identifies the sending process. File
/// descriptors may come with the message.
struct Hello {
  std::uint16_t version = kMeshVersion;
  Slot slot{};
  std::uint8_t descriptors = 0;  ///< the number of descriptors that come with the message
  bool ring = false;             ///< the first of the descriptors is shared memory of a PacketRing
  std::uint64_t incarnation = 0;
  bool operator==(const Hello&) const = default;

  [[nodiscard]] Preamble serialize() const;
  /// Parses a Hello. nullopt: the bytes are no Hello, or the sender's number (slot) is too large.
  [[nodiscard]] static std::optional<Hello> parse(PreambleView bytes);
};

/// Makes a message that consists only of its kind.
[[nodiscard]] Preamble notice(MessageKind kind);
/// Returns the kind of message that a header states.
[[nodiscard]] MessageKind kind_of(PreambleView bytes);

/// Makes the header of the message that carries a packet, from the packet's IP and UDP fields.
[[nodiscard]] Preamble preamble_of(const verbs::soft::Packet& packet);
/// Reads a packet's IP and UDP fields from the header of its message. False: the header is invalid,
/// and the packet is unchanged.
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
inline constexpr Field kMark{10, 0, 16};
inline constexpr Field kSource{12, 0, 128};
inline constexpr Field kDestination{28, 0, 128};
inline constexpr std::array kPacketRows{kKind,      kTrafficClass,  kHopLimit,         kReserved,
                                        kIcrcValid, kUdpSourcePort, kIpIdentification, kIpFragment,
                                        kMark,      kSource,        kDestination};
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
