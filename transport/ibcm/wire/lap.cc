#include "transport/ibcm/wire/lap.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kReserved8{8, 0, 32};
constexpr Field kRemoteQpn{12, 0, 24};
constexpr Field kRemoteCmResponseTimeout{15, 0, 5};
constexpr Field kReserved15{15, 5, 3};
constexpr Field kReserved16{16, 0, 32};
// Not quite the path of a REQ: the traffic class comes right after the flow label.
constexpr Field kLocalLid{20, 0, 16};
constexpr Field kRemoteLid{22, 0, 16};
constexpr Field kLocalGid{24, 0, 128};
constexpr Field kRemoteGid{40, 0, 128};
constexpr Field kFlowLabel{56, 0, 20};
constexpr Field kReserved58{58, 4, 4};
constexpr Field kTrafficClass{59, 0, 8};
constexpr Field kHopLimit{60, 0, 8};
constexpr Field kReserved61{61, 0, 2};
constexpr Field kPacketRate{61, 2, 6};
constexpr Field kServiceLevel{62, 0, 4};
constexpr Field kSubnetLocal{62, 4, 1};
constexpr Field kReserved62{62, 5, 3};
constexpr Field kLocalAckTimeout{63, 0, 5};
constexpr Field kReserved63{63, 5, 3};
constexpr Field kPrivateData{64, 0, kLapPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"reserved_8", kReserved8},
    {"remote_qpn", kRemoteQpn},
    {"remote_cm_response_timeout", kRemoteCmResponseTimeout},
    {"reserved_15", kReserved15},
    {"reserved_16", kReserved16},
    {"local_lid", kLocalLid},
    {"remote_lid", kRemoteLid},
    {"local_gid", kLocalGid},
    {"remote_gid", kRemoteGid},
    {"flow_label", kFlowLabel},
    {"reserved_58", kReserved58},
    {"traffic_class", kTrafficClass},
    {"hop_limit", kHopLimit},
    {"reserved_61", kReserved61},
    {"packet_rate", kPacketRate},
    {"service_level", kServiceLevel},
    {"subnet_local", kSubnetLocal},
    {"reserved_62", kReserved62},
    {"local_ack_timeout", kLocalAckTimeout},
    {"reserved_63", kReserved63},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

ReqPath parse_path(const std::uint8_t* p) {
  return {.local_lid = get<kLocalLid>(p),
          .remote_lid = get<kRemoteLid>(p),
          .local_gid = get_gid<kLocalGid>(p),
          .remote_gid = get_gid<kRemoteGid>(p),
          .flow_label = get<kFlowLabel>(p),
          .packet_rate = get<kPacketRate>(p),
          .traffic_class = get<kTrafficClass>(p),
          .hop_limit = get<kHopLimit>(p),
          .service_level = get<kServiceLevel>(p),
          .subnet_local = get<kSubnetLocal>(p),
          .local_ack_timeout = get<kLocalAckTimeout>(p)};
}

void serialize_path(const ReqPath& path, std::uint8_t* p) {
  put<kLocalLid>(p, path.local_lid);
  put<kRemoteLid>(p, path.remote_lid);
  put_bytes<kLocalGid>(p, path.local_gid);
  put_bytes<kRemoteGid>(p, path.remote_gid);
  put<kFlowLabel>(p, path.flow_label);
  put<kPacketRate>(p, path.packet_rate);
  put<kTrafficClass>(p, path.traffic_class);
  put<kHopLimit>(p, path.hop_limit);
  put<kServiceLevel>(p, path.service_level);
  put<kSubnetLocal>(p, path.subnet_local);
  put<kLocalAckTimeout>(p, path.local_ack_timeout);
}

}  // namespace

std::span<const NamedField> lap_fields() {
  return kLayout;
}

Result<Lap> Lap::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kLap);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  return Lap{.transaction_id = header->transaction_id,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .remote_comm_id = CommId{get<kRemoteCommId>(p)},
             .remote_qpn = Qpn{get<kRemoteQpn>(p)},
             .remote_cm_response_timeout = get<kRemoteCmResponseTimeout>(p),
             .alternate = parse_path(p),
             .private_data = bytes_of<kPrivateData>(p)};
}

void Lap::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kLap}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kRemoteQpn>(p, value(remote_qpn));
  put<kRemoteCmResponseTimeout>(p, remote_cm_response_timeout);
  serialize_path(alternate, p);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
