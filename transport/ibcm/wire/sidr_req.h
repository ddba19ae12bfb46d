// SIDR_REQ, service id resolution request: asks which QP serves datagrams for a service.
// IBTA vol 1, 12.11.1.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kSidrReqPrivateDataSize = 216;

struct SidrReq {
  std::uint64_t transaction_id = 0;
  CommId request_id{};  ///< the sender's name for this question; comes back in the SIDR_REP
  std::uint16_t partition_key = 0;
  ServiceId service_id{};
  /// Up to 216 bytes to send; parsing gives a view of all 216 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId.
  [[nodiscard]] static Result<SidrReq> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
