// SIDR_REQ, service id resolution request: asks which QP receives the datagrams of a service. IBTA
// vol 1, 12.11.1.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kSidrReqPrivateDataSize = 216;

struct SidrReq {
  std::uint64_t transaction_id = 0;
  CommId request_id{};  ///< the sender's number of the request, which the SIDR_REP repeats
  std::uint16_t partition_key = 0;
  ServiceId service_id{};
  /// Private data: up to 216 bytes to send. After parsing, all 216 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a SIDR_REQ. Errors: those of the MAD header, kCommId.
  [[nodiscard]] static Result<SidrReq> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
