// SIDR_REP, service id resolution response: the QP and the QKey to which datagrams must be sent, or
// the reason why there are none. IBTA vol 1, 12.11.2. The vendor id belongs to enhanced connection
// establishment (ECE), which later releases added.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kSidrRepInfoSize = 72;
inline constexpr std::size_t kSidrRepPrivateDataSize = 136;

struct SidrRep {
  std::uint64_t transaction_id = 0;
  std::uint32_t attribute_modifier = 0;
  CommId request_id{};
  std::uint8_t status = 0;      ///< 0: resolved; the user gets unknown values, too
  std::uint32_t vendor_id = 0;  ///< 24 bits, in two parts of the message
  Qpn qpn{};
  ServiceId service_id{};
  std::uint32_t q_key = 0;
  /// Additional information: up to 72 bytes to send. After parsing, as many bytes as the message
  /// says.
  std::span<const std::uint8_t> info{};
  /// Private data: up to 136 bytes to send. After parsing, all 136 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a SIDR_REP. Errors: those of the MAD header, kCommId, kInfoLength.
  [[nodiscard]] static Result<SidrRep> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
