// APR, alternate path response: the result of a LAP message, which proposes an alternate path.
// Ignored on RoCE. IBTA vol 1, 12.8.2.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kAprInfoSize = 72;
inline constexpr std::size_t kAprPrivateDataSize = 148;

struct Apr {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  std::uint8_t status = 0;  ///< 0: the path was loaded

  /// Additional information: up to 72 bytes to send. After parsing, as many bytes as the message
  /// says.
  std::span<const std::uint8_t> info{};
  /// Private data: up to 148 bytes to send. After parsing, all 148 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses an APR. Errors: those of the MAD header, kCommId, kInfoLength.
  [[nodiscard]] static Result<Apr> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
