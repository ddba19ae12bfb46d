// LAP, load alternate path: proposes another path to which a connection may migrate. Linux never
// sends a LAP, and ignores it on RoCE. IBTA vol 1, 12.8.1.
#pragma once

#include "transport/ibcm/wire/mad_header.h"
#include "transport/ibcm/wire/req.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kLapPrivateDataSize = 168;

struct Lap {
  std::uint64_t transaction_id = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  Qpn remote_qpn{};
  std::uint8_t remote_cm_response_timeout = 0;  ///< 5 bits

  /// The alternate path; "local" is the sender of the LAP.
  ReqPath alternate{};
  /// Private data: up to 168 bytes to send. After parsing, all 168 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a LAP. Errors: those of the MAD header, kCommId.
  [[nodiscard]] static Result<Lap> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
