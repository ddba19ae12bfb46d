// The extended transport headers that may follow the BTH (IBTA vol 1, 9.3 to 9.5). Each header is a
// struct with functions that parse and write a span of its exact size.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "verbs/wire/ids.h"
#include "verbs/wire/layout.h"

namespace anyrdma::roce {

namespace deth_layout {
inline constexpr wire::Field kQueueKey{0, 0, 32};
inline constexpr wire::Field kReserved{4, 0, 8};
inline constexpr wire::Field kSource{5, 0, 24};
static_assert(wire::tiles(std::array{kQueueKey, kReserved, kSource}, 8));
}  // namespace deth_layout

/// Datagram extended transport header.
struct Deth {
  static constexpr std::size_t kBytes = 8;
  std::uint32_t queue_key = 0;
  wire::Qpn source{};

  [[nodiscard]] static Deth parse(std::span<const std::uint8_t, kBytes> bytes) {
    const std::uint8_t* b = bytes.data();
    return {wire::get<deth_layout::kQueueKey>(b), wire::Qpn{wire::get<deth_layout::kSource>(b)}};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    std::uint8_t* b = bytes.data();
    wire::put<deth_layout::kQueueKey>(b, queue_key);
    wire::put<deth_layout::kReserved>(b, 0);
    wire::put<deth_layout::kSource>(b, value(source));
  }
  bool operator==(const Deth&) const = default;
};

namespace reth_layout {
inline constexpr wire::Field kAddress{0, 0, 64};
inline constexpr wire::Field kRemoteKey{8, 0, 32};
inline constexpr wire::Field kLength{12, 0, 32};
static_assert(wire::tiles(std::array{kAddress, kRemoteKey, kLength}, 16));
}  // namespace reth_layout

/// RDMA extended transport header.
struct Reth {
  static constexpr std::size_t kBytes = 16;
  std::uint64_t address = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t length = 0;

  [[nodiscard]] static Reth parse(std::span<const std::uint8_t, kBytes> bytes) {
    const std::uint8_t* b = bytes.data();
    return {wire::get<reth_layout::kAddress>(b), wire::get<reth_layout::kRemoteKey>(b),
            wire::get<reth_layout::kLength>(b)};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    std::uint8_t* b = bytes.data();
    wire::put<reth_layout::kAddress>(b, address);
    wire::put<reth_layout::kRemoteKey>(b, remote_key);
    wire::put<reth_layout::kLength>(b, length);
  }
  bool operator==(const Reth&) const = default;
};

/// The kind of an AETH (acknowledgement header), in the upper bits of its syndrome (IBTA vol 1,
/// table 45).
enum class AckKind : std::uint8_t { kAck = 0, kRnrNak = 1, kReserved = 2, kNak = 3 };

/// Codes of a kNak syndrome (IBTA vol 1, table 46).
enum class NakCode : std::uint8_t {
  kPsnSequence = 0,
  kInvalidRequest = 1,
  kRemoteAccess = 2,
  kRemoteOperational = 3,
};

/// The credit count of an AETH that means "no end-to-end credits". Linux's rxe sends it, too.
inline constexpr std::uint8_t kCreditsUnlimited = 31;

namespace aeth_layout {
inline constexpr wire::Field kReserved{0, 0, 1};
inline constexpr wire::Field kKind{0, 1, 2};
inline constexpr wire::Field kValue{0, 3, 5};
inline constexpr wire::Field kSequence{1, 0, 24};
static_assert(wire::tiles(std::array{kReserved, kKind, kValue, kSequence}, 4));
}  // namespace aeth_layout

/// Acknowledge extended transport header.
struct Aeth {
  static constexpr std::size_t kBytes = 4;
  AckKind kind = AckKind::kAck;
  std::uint8_t value = kCreditsUnlimited;  ///< credits, RNR timer or NakCode, as `kind` says
  std::uint32_t message_sequence = 0;

  [[nodiscard]] static Aeth parse(std::span<const std::uint8_t, kBytes> bytes) {
    const std::uint8_t* b = bytes.data();
    return {AckKind{wire::get<aeth_layout::kKind>(b)}, wire::get<aeth_layout::kValue>(b),
            wire::get<aeth_layout::kSequence>(b)};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    std::uint8_t* b = bytes.data();
    wire::put<aeth_layout::kReserved>(b, 0);
    wire::put<aeth_layout::kKind>(b, static_cast<std::uint8_t>(kind));
    wire::put<aeth_layout::kValue>(b, value);
    wire::put<aeth_layout::kSequence>(b, message_sequence);
  }
  bool operator==(const Aeth&) const = default;
};

namespace atomic_layout {
inline constexpr wire::Field kAddress{0, 0, 64};
inline constexpr wire::Field kRemoteKey{8, 0, 32};
inline constexpr wire::Field kSwapOrAdd{12, 0, 64};
inline constexpr wire::Field kCompare{20, 0, 64};
static_assert(wire::tiles(std::array{kAddress, kRemoteKey, kSwapOrAdd, kCompare}, 28));
}  // namespace atomic_layout

/// Atomic extended transport header.
struct AtomicEth {
  static constexpr std::size_t kBytes = 28;
  std::uint64_t address = 0;
  std::uint32_t remote_key = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;

  [[nodiscard]] static AtomicEth parse(std::span<const std::uint8_t, kBytes> bytes) {
    const std::uint8_t* b = bytes.data();
    return {wire::get<atomic_layout::kAddress>(b), wire::get<atomic_layout::kRemoteKey>(b),
            wire::get<atomic_layout::kSwapOrAdd>(b), wire::get<atomic_layout::kCompare>(b)};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    std::uint8_t* b = bytes.data();
    wire::put<atomic_layout::kAddress>(b, address);
    wire::put<atomic_layout::kRemoteKey>(b, remote_key);
    wire::put<atomic_layout::kSwapOrAdd>(b, swap_or_add);
    wire::put<atomic_layout::kCompare>(b, compare);
  }
  bool operator==(const AtomicEth&) const = default;
};

namespace xrc_layout {
inline constexpr wire::Field kReserved{0, 0, 8};
inline constexpr wire::Field kSharedQueue{1, 0, 24};
static_assert(wire::tiles(std::array{kReserved, kSharedQueue}, 4));
}  // namespace xrc_layout

/// The extended connection (XRC) header, with the number of the peer's shared receive queue (IBTA
/// vol 1, annex A14).
struct XrcEth {
  static constexpr std::size_t kBytes = 4;
  std::uint32_t shared_queue = 0;

  [[nodiscard]] static XrcEth parse(std::span<const std::uint8_t, kBytes> bytes) {
    return {wire::get<xrc_layout::kSharedQueue>(bytes.data())};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    std::uint8_t* b = bytes.data();
    wire::put<xrc_layout::kReserved>(b, 0);
    wire::put<xrc_layout::kSharedQueue>(b, shared_queue);
  }
  bool operator==(const XrcEth&) const = default;
};

namespace atomic_ack_layout {
inline constexpr wire::Field kOriginal{0, 0, 64};
static_assert(wire::tiles(std::array{kOriginal}, 8));
}  // namespace atomic_ack_layout

/// Atomic acknowledge extended transport header.
struct AtomicAckEth {
  static constexpr std::size_t kBytes = 8;
  std::uint64_t original = 0;

  [[nodiscard]] static AtomicAckEth parse(std::span<const std::uint8_t, kBytes> bytes) {
    return {wire::get<atomic_ack_layout::kOriginal>(bytes.data())};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    wire::put<atomic_ack_layout::kOriginal>(bytes.data(), original);
  }
  bool operator==(const AtomicAckEth&) const = default;
};

namespace immediate_layout {
inline constexpr wire::Field kData{0, 0, 32};
static_assert(wire::tiles(std::array{kData}, 4));
}  // namespace immediate_layout

/// The immediate data header. Verbs passes immediate data in network byte order; `data` has it in
/// host byte order.
struct ImmDt {
  static constexpr std::size_t kBytes = 4;
  std::uint32_t data = 0;

  [[nodiscard]] static ImmDt parse(std::span<const std::uint8_t, kBytes> bytes) {
    return {wire::get<immediate_layout::kData>(bytes.data())};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    wire::put<immediate_layout::kData>(bytes.data(), data);
  }
  bool operator==(const ImmDt&) const = default;
};

namespace invalidate_layout {
inline constexpr wire::Field kRemoteKey{0, 0, 32};
static_assert(wire::tiles(std::array{kRemoteKey}, 4));
}  // namespace invalidate_layout

/// Invalidate extended transport header.
struct Ieth {
  static constexpr std::size_t kBytes = 4;
  std::uint32_t remote_key = 0;

  [[nodiscard]] static Ieth parse(std::span<const std::uint8_t, kBytes> bytes) {
    return {wire::get<invalidate_layout::kRemoteKey>(bytes.data())};
  }
  void serialize(std::span<std::uint8_t, kBytes> bytes) const {
    wire::put<invalidate_layout::kRemoteKey>(bytes.data(), remote_key);
  }
  bool operator==(const Ieth&) const = default;
};

}  // namespace anyrdma::roce
