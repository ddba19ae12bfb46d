// MRA, message receipt acknowledgment: its sender has received a message, and needs more time to
// answer. IBTA vol 1, 12.6.6.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kMraPrivateDataSize = 222;

struct Mra {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  AnsweredMessage message = AnsweredMessage::kReq;
  std::uint8_t service_timeout = 0;  ///< time exponent of five bits

  /// Private data: up to 222 bytes to send. After parsing, all 222 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses an MRA. Errors: those of the MAD header, kCommId, kMessage.
  [[nodiscard]] static Result<Mra> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
