// DREP, reply to a request for communication release.
// IBTA vol 1, 12.6.11.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kDrepPrivateDataSize = 224;

struct Drep {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  /// Private data: up to 224 bytes to send. After parsing, all 224 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a DREP. Errors: those of the MAD header, kCommId.
  [[nodiscard]] static Result<Drep> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
