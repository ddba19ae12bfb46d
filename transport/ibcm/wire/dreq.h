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
  /// The receiver's QP number, by which it checks that the connection is the same.
  Qpn remote_qpn{};
  /// Private data: up to 220 bytes to send. After parsing, all 220 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a DREQ. Errors: those of the MAD header, kCommId.
  [[nodiscard]] static Result<Dreq> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
