// The header of a management datagram (MAD), its first 24 bytes, as communication management uses
// it. IBTA vol 1, 13.4.3; class and versions: 16.7.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transport/ibcm/wire/decode_error.h"
#include "verbs/assert.h"
#include "verbs/result.h"
#include "verbs/wire/ids.h"
#include "verbs/wire/layout.h"

namespace anyrdma::ibcm::wire {

using anyrdma::wire::CommId;
using anyrdma::wire::Field;
using anyrdma::wire::Guid;
using anyrdma::wire::Psn;
using anyrdma::wire::Qpn;
using anyrdma::wire::ServiceId;
using anyrdma::wire::tiles;
using verbs::Result;

inline constexpr std::size_t kMadSize = 256;
inline constexpr std::size_t kMadHeaderSize = 24;
inline constexpr std::size_t kMadPayloadSize = kMadSize - kMadHeaderSize;

using MadView = std::span<const std::uint8_t, kMadSize>;
using MadBuffer = std::span<std::uint8_t, kMadSize>;
using Gid = std::array<std::uint8_t, 16>;

/// The attribute ids of the CM class, which identify the CM messages (IBTA vol 1, 16.7.3).
enum class Attribute : std::uint16_t {
  kReq = 0x0010,
  kMra = 0x0011,
  kRej = 0x0012,
  kRep = 0x0013,
  kRtu = 0x0014,
  kDreq = 0x0015,
  kDrep = 0x0016,
  kSidrReq = 0x0017,
  kSidrRep = 0x0018,
  kLap = 0x0019,
  kApr = 0x001a,
};

/// The message that a REJ rejects, or for which an MRA asks for time.
enum class AnsweredMessage : std::uint8_t { kReq = 0, kRep = 1, kOther = 2 };

struct MadHeader {
  std::uint64_t transaction_id = 0;
  Attribute attribute{};  ///< any value: parse() accepts unknown attributes
  std::uint32_t attribute_modifier = 0;

  /// Parses the header. Errors: kBaseVersion, kManagementClass, kClassVersion, kMethod. Status and
  /// reserved bits are ignored.
  [[nodiscard]] static Result<MadHeader> parse(MadView mad);
  /// Parses the header like parse(). Error kAttribute: the attribute is not `expected`.
  [[nodiscard]] static Result<MadHeader> parse_as(MadView mad, Attribute expected);
  /// Sets the whole MAD to zero, then writes the header. serialize() of every message calls it
  /// first.
  void serialize(MadBuffer mad) const;

  bool operator==(const MadHeader&) const = default;
};

/// Checks the length of received bytes. Error kLength: they are not exactly 256 bytes, the size of
/// a MAD.
[[nodiscard]] Result<MadView> as_mad(std::span<const std::uint8_t> bytes);

/// Returns the start of the message, which follows the MAD header. Offsets in the layouts of
/// messages count from there.
[[nodiscard]] inline const std::uint8_t* payload(MadView mad) {
  return mad.data() + kMadHeaderSize;
}
[[nodiscard]] inline std::uint8_t* payload(MadBuffer mad) {
  return mad.data() + kMadHeaderSize;
}

/// Copies `data` to the start of a field. Precondition: the field is zero and `data` fits.
template <Field F>
void put_bytes(std::uint8_t* bytes, std::span<const std::uint8_t> data) {
  static_assert(F.bit == 0 && F.width % 8 == 0);
  CM_ASSERT(data.size() <= F.width / 8);
  if (!data.empty()) std::memcpy(bytes + F.byte, data.data(), data.size());
}

/// A GID field by value.
template <Field F>
[[nodiscard]] Gid get_gid(const std::uint8_t* bytes) {
  static_assert(F.bit == 0 && F.width == 128);
  Gid gid;
  std::memcpy(gid.data(), bytes + F.byte, gid.size());
  return gid;
}

}  // namespace anyrdma::ibcm::wire
