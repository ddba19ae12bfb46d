// DREQ, request for communication release.
// IBTA vol 1, 12.6.10.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kDreqPrivateDataSize = 220;

struct Dreq {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  Qpn remote_qpn{};  ///< the receiver's QP: proof that the connection is the same
  /// Up to 220 bytes to send; parsing gives a view of all 220 in the parsed bytes.
  std::span<const std::uint8_t> private_data{};

  /// Errors of the header, and kCommId.
  [[nodiscard]] static Result<Dreq> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
