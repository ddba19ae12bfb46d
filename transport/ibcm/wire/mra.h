// MRA, message receipt acknowledgment: "I have your message, and need more time to answer".
// IBTA vol 1, 12.6.6.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kMraPrivateDataSize = 222;

struct Mra {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  AnsweredMessage message = AnsweredMessage::kReq;
  std::uint8_t service_timeout = 0;  ///< 5 bits, a time exponent
  /// Up to 222 bytes to send; parsing gives a view of all 222 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId, kMessage.
  [[nodiscard]] static Result<Mra> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
