// A queue of packets in memory that two processes share. One process writes and the other reads;
// each checks what the other writes. Packets keep their order, none is lost, and no call waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

/// The bytes for packets: enough for those that arrive while the reader works on others, and few
/// enough to stay in a processor's cache.
inline constexpr std::size_t kRingDataBytes = std::size_t{1} << 18;
inline constexpr std::size_t kRingControlBytes = 4096;
/// The bytes of the shared memory, which is initially zero.
inline constexpr std::size_t kRingBytes = kRingControlBytes + kRingDataBytes;

namespace packet_ring {

/// The counters in front of the packets. Each word has its own cache line. Both sides write a word
/// only if both must agree who saw the other first.
struct Control {
  alignas(64) std::atomic<std::uint64_t> taken;          ///< bytes that may be written again
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;  ///< who writes rings its bell
  alignas(64) std::atomic<std::uint32_t> writer_waits;   ///< for room; who reads rings its bell
};
static_assert(sizeof(Control) <= kRingControlBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The alignment of records, in bytes. A record becomes valid when its first word, which was zero,
/// is written. So a short packet costs the transfer of one cache line, and the record of a process
/// that was killed while writing does not exist.
inline constexpr std::size_t kGranule = 64;
/// The header of a packet.
struct Record {
  std::uint32_t word = 0;  ///< flags and the size of the payload; atomic where it is shared
  std::uint16_t udp_source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint16_t ip_identification = 0;
  std::uint16_t ip_fragment = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Record) == 16);
/// The addresses of a packet, between the record and the payload. Left out if they equal those of
/// the packet before.
struct Path {
  ibv_gid source{};
  ibv_gid destination{};
};
static_assert(sizeof(Path) == 32);

inline constexpr std::uint32_t kPublished = 1u << 31;
inline constexpr std::uint32_t kToTheStart = 1u << 30;  ///< no packet: the next one is in front
inline constexpr std::uint32_t kSamePath = 1u << 29;
inline constexpr std::uint32_t kIcrcValid = 1u << 28;
inline constexpr std::uint32_t kSizeMask = 0xffff;

}  // namespace packet_ring

/// The writing side of the queue. Not thread-safe.
class PacketRingWriter {
 public:
  /// `memory` (kRingBytes of zeroes, aligned to a page) must outlive the writer.
  explicit PacketRingWriter(std::span<std::byte> memory);

  enum class Written : std::uint8_t {
    kYes,
    kFull,
    kBroken,  ///< the reader's count of read packets is impossible
  };
  [[nodiscard]] Written write(const verbs::soft::Packet& packet);
  /// Call after writing: whether the reader sleeps and must be woken. True once per sleep.
  [[nodiscard]] bool reader_sleeps();
  /// Call after kFull: asks the reader for a message when there is room. Then write once more,
  /// because the reader may have made room just before.
  void wait_for_room();

 private:
  [[nodiscard]] Written make_room(std::size_t bytes);
  void publish(std::size_t bytes, std::uint32_t word);

  packet_ring::Control* control_;
  std::byte* data_;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;  ///< as seen last
  packet_ring::Path path_{};
  bool path_known_ = false;
};

/// The reading side of the queue. Not thread-safe.
class PacketRingReader {
 public:
  /// `memory`: as for the writer. Its content is not trusted.
  explicit PacketRingReader(std::span<std::byte> memory);

  enum class Got : std::uint8_t {
    kPacket,
    kNothing,
    kBroken,  ///< the content is invalid; all later calls return this, too
  };
  /// Reads the oldest packet. If there is none, the content of `packet` is unspecified.
  [[nodiscard]] Got read(verbs::soft::Packet& packet);
  /// Whether there is no packet to read.
  [[nodiscard]] bool empty() const;
  /// Call after reading: whether the writer waits for room and must be told. True once per wait.
  [[nodiscard]] bool writer_waits();

  /// Asks the writer to wake this process at the next packet, once. Read once more afterwards,
  /// because a packet may have arrived just before.
  void sleep();
  void wake();

 private:
  [[nodiscard]] Got fail();
  void take(std::size_t bytes);

  packet_ring::Control* control_;
  std::byte* data_;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;  ///< of what was taken, what the writer knows
  packet_ring::Path path_{};
  bool path_known_ = false;
  bool broken_ = false;
  bool told_lately_ = false;  ///< since writer_waits()
};

}  // namespace anyrdma::transport::fabric
