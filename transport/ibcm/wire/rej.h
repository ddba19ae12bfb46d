// REJ, reject: ends a handshake, or a connection whose peer knows nothing of it.
// IBTA vol 1, 12.6.7; reasons: 12.6.7.2.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kRejInfoSize = 72;
inline constexpr std::size_t kRejPrivateDataSize = 148;

struct Rej {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};   ///< 0 when the sender kept nothing of the message rejected
  CommId remote_comm_id{};  ///< 0 when the sender never learnt it
  AnsweredMessage message = AnsweredMessage::kReq;
  std::uint16_t reason = 0;
  /// Additional reject information, up to 72 bytes; parsing gives as many as the message claims.
  std::span<const std::uint8_t> info{};
  /// Up to 148 bytes to send; parsing gives a view of all 148 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kMessage, kInfoLength.
  [[nodiscard]] static Result<Rej> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
