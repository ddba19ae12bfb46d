// REJ, reject: ends a handshake, or a connection that the sender of the REJ does not know. IBTA vol
// 1, 12.6.7; reasons: 12.6.7.2.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kRejInfoSize = 72;
inline constexpr std::size_t kRejPrivateDataSize = 148;

struct Rej {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};   ///< 0 if the sender has no connection for the rejected message
  CommId remote_comm_id{};  ///< 0 if the sender does not know the receiver's comm id
  AnsweredMessage message = AnsweredMessage::kReq;
  std::uint16_t reason = 0;
  /// Additional reject information: up to 72 bytes to send. After parsing, as many bytes as the
  /// message says.
  std::span<const std::uint8_t> info{};
  /// Private data: up to 148 bytes to send. After parsing, all 148 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a REJ. Errors: those of the MAD header, kMessage, kInfoLength.
  [[nodiscard]] static Result<Rej> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
