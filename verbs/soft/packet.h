// One RoCEv2 datagram in flight: what the IP and UDP headers would say, and the UDP payload from
// the BTH to the ICRC. Owned by one party at a time and returned to its pool when dropped.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace anyrdma::verbs::soft {

/// RoCEv2's UDP port.
inline constexpr std::uint16_t kRoceUdpPort = 4791;
/// Largest path MTU plus BTH, the longest extension headers, padding and ICRC.
inline constexpr std::size_t kPacketBytesMax = 4096 + 128;

struct Packet;
class PacketPool;

/// Gives a packet back to the pool it came from.
struct PacketReturn {
  void operator()(Packet* packet) const noexcept;
};
using PacketPtr = std::unique_ptr<Packet, PacketReturn>;

struct Packet {
  ibv_gid source{};  ///< IPv4 addresses are IPv4-mapped
  ibv_gid destination{};
  std::uint16_t udp_source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  /// IPv4's identification and flags as the ICRC covers them; Linux sends 0 or a counter with DF.
  std::uint16_t ip_identification = 0;
  std::uint16_t ip_fragment = 0x4000;
  /// The two fields above are not known, because a UDP socket does not show them. They can be
  /// found: hidden_fields_of() in wire/icrc.h.
  bool ip_fields_hidden = false;
  /// The last four payload bytes are reserved for the ICRC. False: not computed yet, because nobody
  /// has asked (the simulator); seal() in wire/icrc.h fills them.
  bool icrc_valid = false;
  std::uint16_t size = 0;  ///< payload bytes in use, ICRC included
  std::array<std::uint8_t, kPacketBytesMax> storage;

  [[nodiscard]] std::span<std::uint8_t> payload() { return {storage.data(), size}; }
  [[nodiscard]] std::span<const std::uint8_t> payload() const { return {storage.data(), size}; }

  PacketPool* pool = nullptr;
  Packet* next_free = nullptr;
};

/// A free list. Single-threaded: used inside one critical section. Outlives its packets.
class PacketPool {
 public:
  PacketPool() = default;
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// A packet with unspecified storage and default header fields. Never null.
  [[nodiscard]] PacketPtr take();
  /// A packet with the same contents.
  [[nodiscard]] PacketPtr copy_of(const Packet& packet);

 private:
  friend struct PacketReturn;
  Packet* free_ = nullptr;
};

}  // namespace anyrdma::verbs::soft
