// One RoCEv2 datagram in flight: the fields of the IP and UDP headers, and the UDP payload from the
// BTH to the ICRC. In the simulator, packets of other IP protocols use the same type. Each packet
// has one owner at a time, and returns to its pool when the owner destroys it.
//
// Lent payloads: if packets stay in one process, a long payload is not copied into the packet, but
// read from the sender's memory when the packet arrives. The sender's QP and its device each have a
// list of such packets. Before that memory may change or be unmapped, they copy the remaining
// payloads into the packets.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace anyrdma::verbs::soft {

/// The UDP port of RoCEv2.
inline constexpr std::uint16_t kRoceUdpPort = 4791;
/// The largest size of a packet: the largest path MTU, plus space for BTH, the longest extension
/// headers, padding and ICRC.
inline constexpr std::size_t kPacketBytesMax = 4096 + 128;

struct Packet;
class PacketPool;

/// Returns a packet to its pool.
struct PacketReturn {
  void operator()(Packet* packet) const noexcept;
};
using PacketPtr = std::unique_ptr<Packet, PacketReturn>;

/// Links a packet into a list of packets with lent payloads. The packet leaves the list when its
/// payload is copied into the packet, or when the packet is destroyed.
template <class Tag>
using LentHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
struct OfQueue;
struct OfDevice;

struct Packet : LentHook<OfQueue>, LentHook<OfDevice> {
  PacketPool* pool = nullptr;
  Packet* next_free = nullptr;
  const std::uint8_t* lent = nullptr;  ///< the payload, if it is not in `storage`
  std::uint16_t lent_at = 0;           ///< the payload's place in `storage`
  std::uint16_t lent_size = 0;
  ibv_gid source{};  ///< IPv4 addresses are IPv4-mapped
  ibv_gid destination{};
  std::uint16_t udp_source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  /// The IP protocol number; 0: RoCEv2. For other protocols than RoCEv2, the payload begins behind
  /// the IP header.
  std::uint8_t ip_protocol = 0;
  /// The number of the device's port that sends the packet or, once it has arrived, receives it.
  std::uint8_t port = 1;
  /// The identification field of the IPv4 header, which the ICRC covers together with the flags.
  /// Linux sends the identification 0, or a counter with the flag DF.
  std::uint16_t ip_identification = 0;
  std::uint16_t ip_fragment = 0x4000;
  /// Whether ip_identification and ip_fragment are unknown, because a UDP socket does not show
  /// them. hidden_fields_of() in icrc.h finds them.
  bool ip_fields_hidden = false;
  /// Whether the last four payload bytes contain the ICRC. If false, the ICRC is not computed yet;
  /// seal() in icrc.h fills it in. The simulator computes it only if needed.
  bool icrc_valid = false;
  std::uint16_t size = 0;  ///< payload bytes in use, ICRC included

  /// A number for the code that carries the packet between hosts. 0: none.
  std::uint64_t mark = 0;
  std::array<std::uint8_t, kPacketBytesMax> storage;

  [[nodiscard]] std::span<std::uint8_t> payload() { return {storage.data(), size}; }
  [[nodiscard]] std::span<const std::uint8_t> payload() const { return {storage.data(), size}; }

  /// Loads the packet's first cache lines, because the packet will be read soon. No other effect.
  void prefetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(&destination);
    __builtin_prefetch(storage.data());
  }

  /// Lets the packet refer to a payload in its sender's memory. `at`: the payload's place in
  /// `storage`. The caller must then add the packet to the lists of lent payloads.
  void lend(const std::uint8_t* from, std::size_t at, std::size_t bytes) {
    lent = from;
    lent_at = static_cast<std::uint16_t>(at);
    lent_size = static_cast<std::uint16_t>(bytes);
  }
  /// Copies a lent payload into the packet. Call this function before reading or changing the bytes
  /// of a packet that may have a lent payload.
  void keep_payload();
  void forget_lent() {
    lent = nullptr;
    LentHook<OfQueue>::unlink();
    LentHook<OfDevice>::unlink();
  }
};

/// The list of packets with lent payloads, oldest first.
template <class Tag>
class LentPackets {
 public:
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] Packet& front() { return packets_.front(); }
  void add(Packet& packet) { packets_.push_back(packet); }
  void keep_all() {
    while (!empty()) front().keep_payload();
  }

 private:
  boost::intrusive::list<Packet, boost::intrusive::base_hook<LentHook<Tag>>,
                         boost::intrusive::constant_time_size<false>>
      packets_;
};

/// A pool of packets, for one thread at a time. Used inside the runtime's critical section. The
/// pool must outlive its packets.
class PacketPool {
 public:
  PacketPool() = default;
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// Takes a packet from the pool, with unspecified storage and default header fields. Never null.
  [[nodiscard]] PacketPtr take() {
    if (free_ == nullptr) return make();
    Packet* packet = free_;
    free_ = packet->next_free;
    packet->icrc_valid = false;
    packet->ip_fields_hidden = false;
    packet->hop_limit = 64;
    packet->ip_protocol = 0;
    packet->port = 1;
    packet->traffic_class = 0;
    packet->ip_identification = 0;
    packet->ip_fragment = 0x4000;
    packet->size = 0;
    packet->mark = 0;
    return PacketPtr(packet);
  }
  /// Returns a copy of a packet. A lent payload is copied into the new packet.
  [[nodiscard]] PacketPtr copy_of(const Packet& packet);

 private:
  friend struct PacketReturn;
  [[nodiscard]] PacketPtr make();
  Packet* free_ = nullptr;
};

inline void PacketReturn::operator()(Packet* packet) const noexcept {
  if (packet->lent != nullptr) packet->forget_lent();
  packet->next_free = packet->pool->free_;
  packet->pool->free_ = packet;
}

}  // namespace anyrdma::verbs::soft
