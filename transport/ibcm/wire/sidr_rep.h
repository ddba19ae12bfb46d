// SIDR_REP, service id resolution response: the QP and the QKey to send datagrams to, or why not.
// IBTA vol 1, 12.11.2; the vendor id belongs to ECE, which later releases added.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kSidrRepInfoSize = 72;
inline constexpr std::size_t kSidrRepPrivateDataSize = 136;

struct SidrRep {
  std::uint64_t transaction_id = 0;
  std::uint32_t attribute_modifier = 0;
  CommId request_id{};
  std::uint8_t status = 0;      ///< 0: resolved. Unknown ones are for the user to see, too
  std::uint32_t vendor_id = 0;  ///< 24 bits, in two parts of the message
  Qpn qpn{};
  ServiceId service_id{};
  std::uint32_t q_key = 0;
  /// Additional information, up to 72 bytes; parsing gives as many as the message claims.
  std::span<const std::uint8_t> info{};
  /// Up to 136 bytes to send; parsing gives a view of all 136 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId, kInfoLength.
  [[nodiscard]] static Result<SidrRep> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
