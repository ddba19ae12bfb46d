// RTU, ready to use: the third step of the handshake.
// IBTA vol 1, 12.6.9.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kRtuPrivateDataSize = 224;

struct Rtu {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  /// Up to 224 bytes to send; parsing gives a view of all 224 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId.
  [[nodiscard]] static Result<Rtu> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
