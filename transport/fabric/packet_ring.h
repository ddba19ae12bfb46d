// A ring buffer of packets in memory that two processes share. One process writes and the other one
// reads. Each side checks the values that the other side writes. Packets keep their order, none is
// lost, and no call waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

/// The number of bytes for packets. It is enough for packets that arrive while the reader processes
/// others, and small enough to stay in a processor's cache.
inline constexpr std::size_t kRingDataBytes = std::size_t{1} << 18;
inline constexpr std::size_t kRingControlBytes = 4096;
/// The number of bytes of the shared memory, which is zero at first.
inline constexpr std::size_t kRingBytes = kRingControlBytes + kRingDataBytes;

namespace packet_ring {

/// The counters in front of the packets. Each counter has its own cache line. Both sides write a
/// counter only where they must agree which one came first.
struct Control {
  /// Number of bytes that were read and may be overwritten.
  alignas(64) std::atomic<std::uint64_t> taken;
  /// 1: the reader sleeps, and the writer must wake it.
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;
  /// 1: the writer waits for room, and the reader must wake it.
  alignas(64) std::atomic<std::uint32_t> writer_waits;
};
static_assert(sizeof(Control) <= kRingControlBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The alignment of records, in bytes. A record becomes valid when its first word, which was zero,
/// is written. So a short packet transfers only one cache line. If a process is killed while it
/// writes a record, the record stays invalid.
inline constexpr std::size_t kGranule = 64;
/// The header of a packet in the ring buffer.
struct Record {
  std::uint32_t word = 0;  ///< flags and the payload's size; in shared memory accessed as an atomic
  std::uint16_t udp_source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint16_t ip_identification = 0;
  std::uint16_t ip_fragment = 0;
  std::uint32_t mark = 0;  ///< the lower half of Packet::mark
};
static_assert(sizeof(Record) == 16);
/// The addresses of a packet, between its header and its payload. They are left out if they equal
/// those of the packet before.
struct Path {
  ibv_gid source{};
  ibv_gid destination{};
};
static_assert(sizeof(Path) == 32);

inline constexpr std::uint32_t kPublished = 1u << 31;
/// No packet follows here: the next one is at the beginning of the buffer.
inline constexpr std::uint32_t kToTheStart = 1u << 30;
inline constexpr std::uint32_t kSamePath = 1u << 29;
inline constexpr std::uint32_t kIcrcValid = 1u << 28;
inline constexpr std::uint32_t kSizeMask = 0xffff;

}  // namespace packet_ring

/// The writing side of the ring buffer. Not thread-safe.
class PacketRingWriter {
 public:
  /// Creates the writer. `memory` (kRingBytes of zeros, aligned to a page) must outlive it.
  explicit PacketRingWriter(std::span<std::byte> memory);

  enum class Written : std::uint8_t {
    kYes,
    kFull,
    kBroken,  ///< the reader's count of read packets is impossible
  };
  [[nodiscard]] Written write(const verbs::soft::Packet& packet);
  /// Call after write(): returns whether the reader sleeps, so that the caller must wake it.
  /// Returns true once for each sleep.
  [[nodiscard]] bool reader_sleeps();
  /// Call after kFull: asks the reader to wake this process when there is room. Then call write()
  /// once more, because the reader may have made room just before.
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

/// The reading side of the ring buffer. Not thread-safe.
class PacketRingReader {
 public:
  /// Creates the reader. `memory` is as for the writer. The reader checks everything that it reads.
  explicit PacketRingReader(std::span<std::byte> memory);

  enum class Got : std::uint8_t {
    kPacket,
    kNothing,
    kBroken,  ///< the content is invalid; all later calls return this, too
  };
  /// Reads the oldest packet. If there is none, the content of `packet` is undefined.
  [[nodiscard]] Got read(verbs::soft::Packet& packet);
  /// Whether there is no packet to read.
  [[nodiscard]] bool empty() const;
  /// Call after read(): returns whether the writer waits for room, so that the caller must wake it.
  /// Returns true once for each wait.
  [[nodiscard]] bool writer_waits();

  /// Asks the writer to wake this process at the next packet, once. Call read() once more
  /// afterwards, because a packet may have arrived just before.
  void sleep();
  void wake();

 private:
  [[nodiscard]] Got fail();
  void take(std::size_t bytes);

  packet_ring::Control* control_;
  std::byte* data_;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;  ///< number of bytes read as far as the writer was told
  packet_ring::Path path_{};
  bool path_known_ = false;
  bool broken_ = false;
  bool told_lately_ = false;  ///< the writer was told since the last writer_waits()
};

}  // namespace anyrdma::transport::fabric
