// APR, alternate path response: the result of a LAP. Ignored on RoCE, like LAP. IBTA vol 1, 12.8.2.
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
  /// Additional information, up to 72 bytes; parsing gives as many as the message claims.
  std::span<const std::uint8_t> info{};
  /// Up to 148 bytes to send; parsing gives a view of all 148 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId, kInfoLength.
  [[nodiscard]] static Result<Apr> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
