// REP, reply to a request for communication. IBTA vol 1, 12.6.8. The vendor id is in three bytes
// that were reserved before enhanced connection establishment (ECE).
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kRepPrivateDataSize = 196;

struct Rep {
  std::uint64_t transaction_id = 0;
  std::uint32_t attribute_modifier = 0;
  CommId local_comm_id{};
  CommId remote_comm_id{};
  std::uint32_t local_q_key = 0;
  Qpn local_qpn{};
  std::uint32_t vendor_id = 0;   ///< 24 bits, in three separate bytes of the message
  std::uint32_t local_eecn = 0;  ///< 24 bits
  Psn starting_psn{};
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t target_ack_delay = 0;   ///< 5 bits
  std::uint8_t failover_accepted = 0;  ///< 2 bits
  std::uint8_t flow_control = 0;       ///< 1 bit
  std::uint8_t rnr_retry_count = 0;    ///< 3 bits
  std::uint8_t srq = 0;                ///< 1 bit
  Guid local_ca_guid{};
  /// Private data: up to 196 bytes to send. After parsing, all 196 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a REP. Errors: those of the MAD header, kCommId.
  [[nodiscard]] static Result<Rep> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
