#include "transport/ibcm/wire/rep.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kLocalQKey{8, 0, 32};
constexpr Field kLocalQpn{12, 0, 24};
constexpr Field kVendorIdHigh{15, 0, 8};
constexpr Field kLocalEecn{16, 0, 24};
constexpr Field kVendorIdMiddle{19, 0, 8};
constexpr Field kStartingPsn{20, 0, 24};
constexpr Field kVendorIdLow{23, 0, 8};
constexpr Field kResponderResources{24, 0, 8};
constexpr Field kInitiatorDepth{25, 0, 8};
constexpr Field kTargetAckDelay{26, 0, 5};
constexpr Field kFailoverAccepted{26, 5, 2};
constexpr Field kFlowControl{26, 7, 1};
constexpr Field kRnrRetryCount{27, 0, 3};
constexpr Field kSrq{27, 3, 1};
constexpr Field kReserved27{27, 4, 4};
constexpr Field kLocalCaGuid{28, 0, 64};
constexpr Field kPrivateData{36, 0, kRepPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"local_qkey", kLocalQKey},
    {"local_qpn", kLocalQpn},
    {"vendor_id_high", kVendorIdHigh},
    {"local_eecn", kLocalEecn},
    {"vendor_id_middle", kVendorIdMiddle},
    {"starting_psn", kStartingPsn},
    {"vendor_id_low", kVendorIdLow},
    {"responder_resources", kResponderResources},
    {"initiator_depth", kInitiatorDepth},
    {"target_ack_delay", kTargetAckDelay},
    {"failover_accepted", kFailoverAccepted},
    {"flow_control", kFlowControl},
    {"rnr_retry_count", kRnrRetryCount},
    {"srq", kSrq},
    {"reserved_27", kReserved27},
    {"local_ca_guid", kLocalCaGuid},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

std::uint32_t vendor_id_of(const std::uint8_t* p) {
  return std::uint32_t{get<kVendorIdHigh>(p)} << 16 | std::uint32_t{get<kVendorIdMiddle>(p)} << 8 |
         get<kVendorIdLow>(p);
}

}  // namespace

std::span<const NamedField> rep_fields() {
  return kLayout;
}

Result<Rep> Rep::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kRep);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  return Rep{.transaction_id = header->transaction_id,
             .attribute_modifier = header->attribute_modifier,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .remote_comm_id = CommId{get<kRemoteCommId>(p)},
             .local_q_key = get<kLocalQKey>(p),
             .local_qpn = Qpn{get<kLocalQpn>(p)},
             .vendor_id = vendor_id_of(p),
             .local_eecn = get<kLocalEecn>(p),
             .starting_psn = Psn(get<kStartingPsn>(p)),
             .responder_resources = get<kResponderResources>(p),
             .initiator_depth = get<kInitiatorDepth>(p),
             .target_ack_delay = get<kTargetAckDelay>(p),
             .failover_accepted = get<kFailoverAccepted>(p),
             .flow_control = get<kFlowControl>(p),
             .rnr_retry_count = get<kRnrRetryCount>(p),
             .srq = get<kSrq>(p),
             .local_ca_guid = Guid{get<kLocalCaGuid>(p)},
             .private_data = bytes_of<kPrivateData>(p)};
}

void Rep::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kRep, attribute_modifier}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kLocalQKey>(p, local_q_key);
  put<kLocalQpn>(p, value(local_qpn));
  put<kVendorIdHigh>(p, static_cast<std::uint8_t>(vendor_id >> 16));
  put<kLocalEecn>(p, local_eecn);
  put<kVendorIdMiddle>(p, static_cast<std::uint8_t>(vendor_id >> 8));
  put<kStartingPsn>(p, starting_psn.value());
  put<kVendorIdLow>(p, static_cast<std::uint8_t>(vendor_id));
  put<kResponderResources>(p, responder_resources);
  put<kInitiatorDepth>(p, initiator_depth);
  put<kTargetAckDelay>(p, target_ack_delay);
  put<kFailoverAccepted>(p, failover_accepted);
  put<kFlowControl>(p, flow_control);
  put<kRnrRetryCount>(p, rnr_retry_count);
  put<kSrq>(p, srq);
  put<kLocalCaGuid>(p, value(local_ca_guid));
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
