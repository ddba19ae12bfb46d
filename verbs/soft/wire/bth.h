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
using Front = wire::Word<0, 8>;
using Back = wire::Word<8, 4>;
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
  const Front::Number front = Front::load(bytes.data());
  const Back::Number back = Back::load(bytes.data());
  // Reads all fields from one 64-bit word, because a copy of single fields would have to wait for
  // each of them.
  return {.opcode = Front::get<kOpcode>(front),
          .solicited = Front::get<kSolicited>(front) != 0,
          .migration = Front::get<kMigration>(front) != 0,
          .pad = Front::get<kPad>(front),
          .version = Front::get<kVersion>(front),
          .partition_key = Front::get<kPartitionKey>(front),
          .forward_congestion = Front::get<kForwardCongestion>(front) != 0,
          .backward_congestion = Front::get<kBackwardCongestion>(front) != 0,
          .destination = wire::Qpn{Front::get<kDestination>(front)},
          .ack_request = Back::get<kAckRequest>(back) != 0,
          .psn = wire::Psn{Back::get<kPsn>(back)}};
}

inline void Bth::serialize(std::span<std::uint8_t, kBytes> bytes) const {
  using namespace bth_layout;
  Front::store(bytes.data(), Front::only<kOpcode>(opcode) | Front::only<kSolicited>(solicited) |
                                 Front::only<kMigration>(migration) | Front::only<kPad>(pad) |
                                 Front::only<kVersion>(version) |
                                 Front::only<kPartitionKey>(partition_key) |
                                 Front::only<kForwardCongestion>(forward_congestion) |
                                 Front::only<kBackwardCongestion>(backward_congestion) |
                                 Front::only<kDestination>(value(destination)));
  Back::store(bytes.data(), Back::only<kAckRequest>(ack_request) | Back::only<kPsn>(psn.value()));
}

}  // namespace anyrdma::roce
