// A queue of packets in memory that two processes share: one writes, the other reads, and neither
// trusts the other. Order is kept, nothing is lost, and no call waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

/// Enough for the packets that a peer takes while it works on others, and so few that all stays in
/// a processor's cache.
inline constexpr std::size_t kRingDataBytes = std::size_t{1} << 18;
inline constexpr std::size_t kRingControlBytes = 4096;
/// Of the shared memory, which starts as zeroes.
inline constexpr std::size_t kRingBytes = kRingControlBytes + kRingDataBytes;

namespace packet_ring {

/// In front of the records. Every word has a cache line of its own, and is written by both sides
/// only where both must agree who saw the other first.
struct Control {
  alignas(64) std::atomic<std::uint64_t> taken;          ///< bytes that may be written again
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;  ///< who writes rings its bell
  alignas(64) std::atomic<std::uint32_t> writer_waits;   ///< for room; who reads rings its bell
};
static_assert(sizeof(Control) <= kRingControlBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Records start at multiples of this. Published by their first word, which was zero before: so a
/// short packet costs the transfer of one cache line, and a record of a process that was killed in
/// the middle of writing it never existed.
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
/// Between the record and the payload, unless it is as in the packet before.
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

/// The end of one process. Not thread-safe.
class PacketRingWriter {
 public:
  /// `memory` (kRingBytes of zeroes, aligned to a page) outlives the writer.
  explicit PacketRingWriter(std::span<std::byte> memory);

  enum class Written : std::uint8_t {
    kYes,
    kFull,
    kBroken,  ///< the reader's count of taken packets is impossible
  };
  [[nodiscard]] Written write(const verbs::soft::Packet& packet);
  /// After writing: whether the reader sleeps and must be told. True once per sleep.
  [[nodiscard]] bool reader_sleeps();
  /// After kFull: the reader is to tell us when there is room. Then write once more, because it
  /// may have made some just before.
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

/// The end of the other. Not thread-safe.
class PacketRingReader {
 public:
  /// As the writer's. The content is not trusted.
  explicit PacketRingReader(std::span<std::byte> memory);

  enum class Got : std::uint8_t {
    kPacket,
    kNothing,
    kBroken,  ///< not what our writer writes; from now on always
  };
  /// Takes the oldest packet. The packet's contents are unspecified unless there is one.
  [[nodiscard]] Got read(verbs::soft::Packet& packet);
  /// Whether read() would find something.
  [[nodiscard]] bool empty() const;
  /// After reading: whether the writer waits for room and must be told. True once per wait.
  [[nodiscard]] bool writer_waits();

  /// From now on the writer tells us, once. Look for what came just before.
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
