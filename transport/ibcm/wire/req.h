// REQ, request for communication: begins the handshake. IBTA vol 1, 12.6.5. The vendor id and the
// attribute modifier belong to enhanced connection establishment (ECE), which later releases added.
#pragma once

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {

inline constexpr std::size_t kReqPrivateDataSize = 92;

/// One of the two paths in a REQ, primary and alternate. "Local" is the sender of the REQ.
struct ReqPath {
  std::uint16_t local_lid = 0;
  std::uint16_t remote_lid = 0;
  Gid local_gid{};
  Gid remote_gid{};
  std::uint32_t flow_label = 0;  ///< 20 bits
  std::uint8_t packet_rate = 0;  ///< 6 bits
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t service_level = 0;      ///< 4 bits
  std::uint8_t subnet_local = 0;       ///< 1 bit
  std::uint8_t local_ack_timeout = 0;  ///< 5 bits
  bool operator==(const ReqPath&) const = default;
};

struct Req {
  std::uint64_t transaction_id = 0;
  std::uint32_t attribute_modifier = 0;
  CommId local_comm_id{};
  std::uint32_t vendor_id = 0;  ///< 24 bits
  ServiceId service_id{};
  Guid local_ca_guid{};
  std::uint32_t local_q_key = 0;
  Qpn local_qpn{};
  std::uint8_t responder_resources = 0;
  std::uint32_t local_eecn = 0;  ///< 24 bits
  std::uint8_t initiator_depth = 0;
  std::uint32_t remote_eecn = 0;                ///< 24 bits
  std::uint8_t remote_cm_response_timeout = 0;  ///< 5 bits
  std::uint8_t transport_service = 0;           ///< 0: RC, 1: UC, 3: as extended_transport says
  std::uint8_t flow_control = 0;                ///< 1 bit
  Psn starting_psn{};
  std::uint8_t local_cm_response_timeout = 0;  ///< 5 bits
  std::uint8_t retry_count = 0;                ///< 3 bits
  std::uint16_t partition_key = 0;
  std::uint8_t path_mtu = 1;            ///< ibv_mtu, 1 to 5
  std::uint8_t rdc_exists = 0;          ///< 1 bit
  std::uint8_t rnr_retry_count = 0;     ///< 3 bits
  std::uint8_t max_cm_retries = 0;      ///< 4 bits
  std::uint8_t srq = 0;                 ///< 1 bit
  std::uint8_t extended_transport = 0;  ///< 3 bits; 1: XRC
  ReqPath primary{};
  ReqPath alternate{};
  /// Private data: up to 92 bytes to send. After parsing, all 92 bytes of the parsed message.
  std::span<const std::uint8_t> private_data{};

  /// Parses a REQ. Errors: those of the MAD header, kCommId, kPathMtu, kTransportService. Reserved
  /// bits are ignored.
  [[nodiscard]] static Result<Req> parse(MadView mad);
  void serialize(MadBuffer mad) const;
};

}  // namespace anyrdma::ibcm::wire
