#include "transport/ibcm/wire/req.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kReserved4{4, 0, 8};
constexpr Field kVendorId{5, 0, 24};
constexpr Field kServiceId{8, 0, 64};
constexpr Field kLocalCaGuid{16, 0, 64};
constexpr Field kReserved24{24, 0, 32};
constexpr Field kLocalQKey{28, 0, 32};
constexpr Field kLocalQpn{32, 0, 24};
constexpr Field kResponderResources{35, 0, 8};
constexpr Field kLocalEecn{36, 0, 24};
constexpr Field kInitiatorDepth{39, 0, 8};
constexpr Field kRemoteEecn{40, 0, 24};
constexpr Field kRemoteCmResponseTimeout{43, 0, 5};
constexpr Field kTransportService{43, 5, 2};
constexpr Field kFlowControl{43, 7, 1};
constexpr Field kStartingPsn{44, 0, 24};
constexpr Field kLocalCmResponseTimeout{47, 0, 5};
constexpr Field kRetryCount{47, 5, 3};
constexpr Field kPartitionKey{48, 0, 16};
constexpr Field kPathMtu{50, 0, 4};
constexpr Field kRdcExists{50, 4, 1};
constexpr Field kRnrRetryCount{50, 5, 3};
constexpr Field kMaxCmRetries{51, 0, 4};
constexpr Field kSrq{51, 4, 1};
constexpr Field kExtendedTransport{51, 5, 3};
constexpr unsigned kPrimary = 52;
constexpr unsigned kAlternate = 96;
constexpr Field kPrivateData{140, 0, kReqPrivateDataSize * 8};

// The 44 bytes of a path; the REQ has two of them.
template <unsigned At>
struct PathLayout {
  static constexpr Field kLocalLid{At + 0, 0, 16};
  static constexpr Field kRemoteLid{At + 2, 0, 16};
  static constexpr Field kLocalGid{At + 4, 0, 128};
  static constexpr Field kRemoteGid{At + 20, 0, 128};
  static constexpr Field kFlowLabel{At + 36, 0, 20};
  static constexpr Field kReserved38{At + 38, 4, 6};
  static constexpr Field kPacketRate{At + 39, 2, 6};
  static constexpr Field kTrafficClass{At + 40, 0, 8};
  static constexpr Field kHopLimit{At + 41, 0, 8};
  static constexpr Field kServiceLevel{At + 42, 0, 4};
  static constexpr Field kSubnetLocal{At + 42, 4, 1};
  static constexpr Field kReserved42{At + 42, 5, 3};
  static constexpr Field kLocalAckTimeout{At + 43, 0, 5};
  static constexpr Field kReserved43{At + 43, 5, 3};
};
using Primary = PathLayout<kPrimary>;
using Alternate = PathLayout<kAlternate>;

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"reserved_4", kReserved4},
    {"vendor_id", kVendorId},
    {"service_id", kServiceId},
    {"local_ca_guid", kLocalCaGuid},
    {"reserved_24", kReserved24},
    {"local_qkey", kLocalQKey},
    {"local_qpn", kLocalQpn},
    {"responder_resources", kResponderResources},
    {"local_eecn", kLocalEecn},
    {"initiator_depth", kInitiatorDepth},
    {"remote_eecn", kRemoteEecn},
    {"remote_cm_response_timeout", kRemoteCmResponseTimeout},
    {"transport_service", kTransportService},
    {"flow_control", kFlowControl},
    {"starting_psn", kStartingPsn},
    {"local_cm_response_timeout", kLocalCmResponseTimeout},
    {"retry_count", kRetryCount},
    {"partition_key", kPartitionKey},
    {"path_mtu", kPathMtu},
    {"rdc_exists", kRdcExists},
    {"rnr_retry_count", kRnrRetryCount},
    {"max_cm_retries", kMaxCmRetries},
    {"srq", kSrq},
    {"extended_transport", kExtendedTransport},
    {"primary_local_lid", Primary::kLocalLid},
    {"primary_remote_lid", Primary::kRemoteLid},
    {"primary_local_gid", Primary::kLocalGid},
    {"primary_remote_gid", Primary::kRemoteGid},
    {"primary_flow_label", Primary::kFlowLabel},
    {"primary_reserved_38", Primary::kReserved38},
    {"primary_packet_rate", Primary::kPacketRate},
    {"primary_traffic_class", Primary::kTrafficClass},
    {"primary_hop_limit", Primary::kHopLimit},
    {"primary_service_level", Primary::kServiceLevel},
    {"primary_subnet_local", Primary::kSubnetLocal},
    {"primary_reserved_42", Primary::kReserved42},
    {"primary_local_ack_timeout", Primary::kLocalAckTimeout},
    {"primary_reserved_43", Primary::kReserved43},
    {"alternate_local_lid", Alternate::kLocalLid},
    {"alternate_remote_lid", Alternate::kRemoteLid},
    {"alternate_local_gid", Alternate::kLocalGid},
    {"alternate_remote_gid", Alternate::kRemoteGid},
    {"alternate_flow_label", Alternate::kFlowLabel},
    {"alternate_reserved_38", Alternate::kReserved38},
    {"alternate_packet_rate", Alternate::kPacketRate},
    {"alternate_traffic_class", Alternate::kTrafficClass},
    {"alternate_hop_limit", Alternate::kHopLimit},
    {"alternate_service_level", Alternate::kServiceLevel},
    {"alternate_subnet_local", Alternate::kSubnetLocal},
    {"alternate_reserved_42", Alternate::kReserved42},
    {"alternate_local_ack_timeout", Alternate::kLocalAckTimeout},
    {"alternate_reserved_43", Alternate::kReserved43},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

constexpr std::uint8_t kPathMtuMax = 5;
constexpr std::uint8_t kServiceReliableDatagram = 2;
constexpr std::uint8_t kServiceExtended = 3;
constexpr std::uint8_t kExtendedXrc = 1;

template <class Layout>
ReqPath parse_path(const std::uint8_t* p) {
  return {.local_lid = get<Layout::kLocalLid>(p),
          .remote_lid = get<Layout::kRemoteLid>(p),
          .local_gid = get_gid<Layout::kLocalGid>(p),
          .remote_gid = get_gid<Layout::kRemoteGid>(p),
          .flow_label = get<Layout::kFlowLabel>(p),
          .packet_rate = get<Layout::kPacketRate>(p),
          .traffic_class = get<Layout::kTrafficClass>(p),
          .hop_limit = get<Layout::kHopLimit>(p),
          .service_level = get<Layout::kServiceLevel>(p),
          .subnet_local = get<Layout::kSubnetLocal>(p),
          .local_ack_timeout = get<Layout::kLocalAckTimeout>(p)};
}

template <class Layout>
void serialize_path(const ReqPath& path, std::uint8_t* p) {
  put<Layout::kLocalLid>(p, path.local_lid);
  put<Layout::kRemoteLid>(p, path.remote_lid);
  put_bytes<Layout::kLocalGid>(p, path.local_gid);
  put_bytes<Layout::kRemoteGid>(p, path.remote_gid);
  put<Layout::kFlowLabel>(p, path.flow_label);
  put<Layout::kPacketRate>(p, path.packet_rate);
  put<Layout::kTrafficClass>(p, path.traffic_class);
  put<Layout::kHopLimit>(p, path.hop_limit);
  put<Layout::kServiceLevel>(p, path.service_level);
  put<Layout::kSubnetLocal>(p, path.subnet_local);
  put<Layout::kLocalAckTimeout>(p, path.local_ack_timeout);
}

bool transport_exists(const std::uint8_t* p) {
  const std::uint8_t service = get<kTransportService>(p);
  if (service == kServiceExtended) return get<kExtendedTransport>(p) == kExtendedXrc;
  return service != kServiceReliableDatagram;
}

bool path_mtu_exists(const std::uint8_t* p) {
  const std::uint8_t mtu = get<kPathMtu>(p);
  return mtu != 0 && mtu <= kPathMtuMax;
}

}  // namespace

std::span<const NamedField> req_fields() {
  return kLayout;
}

Result<Req> Req::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kReq);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (!path_mtu_exists(p)) return make_error_code(DecodeErrc::kPathMtu);
  if (!transport_exists(p)) return make_error_code(DecodeErrc::kTransportService);
  return Req{.transaction_id = header->transaction_id,
             .attribute_modifier = header->attribute_modifier,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .vendor_id = get<kVendorId>(p),
             .service_id = ServiceId{get<kServiceId>(p)},
             .local_ca_guid = Guid{get<kLocalCaGuid>(p)},
             .local_q_key = get<kLocalQKey>(p),
             .local_qpn = Qpn{get<kLocalQpn>(p)},
             .responder_resources = get<kResponderResources>(p),
             .local_eecn = get<kLocalEecn>(p),
             .initiator_depth = get<kInitiatorDepth>(p),
             .remote_eecn = get<kRemoteEecn>(p),
             .remote_cm_response_timeout = get<kRemoteCmResponseTimeout>(p),
             .transport_service = get<kTransportService>(p),
             .flow_control = get<kFlowControl>(p),
             .starting_psn = Psn(get<kStartingPsn>(p)),
             .local_cm_response_timeout = get<kLocalCmResponseTimeout>(p),
             .retry_count = get<kRetryCount>(p),
             .partition_key = get<kPartitionKey>(p),
             .path_mtu = get<kPathMtu>(p),
             .rdc_exists = get<kRdcExists>(p),
             .rnr_retry_count = get<kRnrRetryCount>(p),
             .max_cm_retries = get<kMaxCmRetries>(p),
             .srq = get<kSrq>(p),
             .extended_transport = get<kExtendedTransport>(p),
             .primary = parse_path<Primary>(p),
             .alternate = parse_path<Alternate>(p),
             .private_data = bytes_of<kPrivateData>(p)};
}

void Req::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kReq, attribute_modifier}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kVendorId>(p, vendor_id);
  put<kServiceId>(p, value(service_id));
  put<kLocalCaGuid>(p, value(local_ca_guid));
  put<kLocalQKey>(p, local_q_key);
  put<kLocalQpn>(p, value(local_qpn));
  put<kResponderResources>(p, responder_resources);
  put<kLocalEecn>(p, local_eecn);
  put<kInitiatorDepth>(p, initiator_depth);
  put<kRemoteEecn>(p, remote_eecn);
  put<kRemoteCmResponseTimeout>(p, remote_cm_response_timeout);
  put<kTransportService>(p, transport_service);
  put<kFlowControl>(p, flow_control);
  put<kStartingPsn>(p, starting_psn.value());
  put<kLocalCmResponseTimeout>(p, local_cm_response_timeout);
  put<kRetryCount>(p, retry_count);
  put<kPartitionKey>(p, partition_key);
  put<kPathMtu>(p, path_mtu);
  put<kRdcExists>(p, rdc_exists);
  put<kRnrRetryCount>(p, rnr_retry_count);
  put<kMaxCmRetries>(p, max_cm_retries);
  put<kSrq>(p, srq);
  put<kExtendedTransport>(p, extended_transport);
  serialize_path<Primary>(primary, p);
  serialize_path<Alternate>(alternate, p);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
