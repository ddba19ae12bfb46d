// Base transport header: the first 12 bytes of every RoCEv2 payload (IBTA vol 1, 9.2).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "verbs/wire/ids.h"
#include "verbs/wire/layout.h"

namespace anyrdma::roce {

namespace bth_layout {
using wire::Field;
inline constexpr Field kOpcode{0, 0, 8};
inline constexpr Field kSolicited{1, 0, 1};
inline constexpr Field kMigration{1, 1, 1};
inline constexpr Field kPad{1, 2, 2};
inline constexpr Field kVersion{1, 4, 4};
inline constexpr Field kPartitionKey{2, 0, 16};
inline constexpr Field kForwardCongestion{4, 0, 1};
inline constexpr Field kBackwardCongestion{4, 1, 1};
inline constexpr Field kReserved6{4, 2, 6};
inline constexpr Field kDestination{5, 0, 24};
inline constexpr Field kAckRequest{8, 0, 1};
inline constexpr Field kReserved7{8, 1, 7};
inline constexpr Field kPsn{9, 0, 24};
inline constexpr std::array kAll{kOpcode,    kSolicited,    kMigration,         kPad,
                                 kVersion,   kPartitionKey, kForwardCongestion, kBackwardCongestion,
                                 kReserved6, kDestination,  kAckRequest,        kReserved7,
                                 kPsn};
static_assert(wire::tiles(kAll, 12));
}  // namespace bth_layout

struct Bth {
  static constexpr std::size_t kBytes = 12;

  std::uint8_t opcode = 0;
  bool solicited = false;
  bool migration = false;
  std::uint8_t pad = 0;  ///< bytes that fill the payload to a multiple of four
  std::uint8_t version = 0;
  std::uint16_t partition_key = 0xffff;
  bool forward_congestion = false;
  bool backward_congestion = false;
  wire::Qpn destination{};
  bool ack_request = false;
  wire::Psn psn;

  [[nodiscard]] static Bth parse(std::span<const std::uint8_t, kBytes> bytes);
  /// Reserved bits are written as zero.
  void serialize(std::span<std::uint8_t, kBytes> bytes) const;
  bool operator==(const Bth&) const = default;
};

inline Bth Bth::parse(std::span<const std::uint8_t, kBytes> bytes) {
  using namespace bth_layout;
  const std::uint8_t* b = bytes.data();
  Bth bth;
  bth.opcode = wire::get<kOpcode>(b);
  bth.solicited = wire::get<kSolicited>(b) != 0;
  bth.migration = wire::get<kMigration>(b) != 0;
  bth.pad = wire::get<kPad>(b);
  bth.version = wire::get<kVersion>(b);
  bth.partition_key = wire::get<kPartitionKey>(b);
  bth.forward_congestion = wire::get<kForwardCongestion>(b) != 0;
  bth.backward_congestion = wire::get<kBackwardCongestion>(b) != 0;
  bth.destination = wire::Qpn{wire::get<kDestination>(b)};
  bth.ack_request = wire::get<kAckRequest>(b) != 0;
  bth.psn = wire::Psn{wire::get<kPsn>(b)};
  return bth;
}

inline void Bth::serialize(std::span<std::uint8_t, kBytes> bytes) const {
  using namespace bth_layout;
  std::uint8_t* b = bytes.data();
  std::memset(b, 0, kBytes);
  wire::put<kOpcode>(b, opcode);
  wire::put<kSolicited>(b, solicited);
  wire::put<kMigration>(b, migration);
  wire::put<kPad>(b, pad);
  wire::put<kVersion>(b, version);
  wire::put<kPartitionKey>(b, partition_key);
  wire::put<kForwardCongestion>(b, forward_congestion);
  wire::put<kBackwardCongestion>(b, backward_congestion);
  wire::put<kDestination>(b, value(destination));
  wire::put<kAckRequest>(b, ack_request);
  wire::put<kPsn>(b, psn.value());
}

}  // namespace anyrdma::roce
