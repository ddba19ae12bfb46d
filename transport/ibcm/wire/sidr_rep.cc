#include "transport/ibcm/wire/sidr_rep.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kRequestId{0, 0, 32};
constexpr Field kStatus{4, 0, 8};
constexpr Field kInfoLength{5, 0, 8};
constexpr Field kVendorIdHigh{6, 0, 16};
constexpr Field kQpn{8, 0, 24};
constexpr Field kVendorIdLow{11, 0, 8};
constexpr Field kServiceId{12, 0, 64};
constexpr Field kQKey{20, 0, 32};
constexpr Field kInfo{24, 0, kSidrRepInfoSize * 8};
constexpr Field kPrivateData{96, 0, kSidrRepPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"request_id", kRequestId},
    {"status", kStatus},
    {"info_length", kInfoLength},
    {"vendor_id_high", kVendorIdHigh},
    {"qpn", kQpn},
    {"vendor_id_low", kVendorIdLow},
    {"service_id", kServiceId},
    {"qkey", kQKey},
    {"info", kInfo},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

}  // namespace

std::span<const NamedField> sidr_rep_fields() {
  return kLayout;
}

Result<SidrRep> SidrRep::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kSidrRep);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kRequestId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kInfoLength>(p) > kSidrRepInfoSize) return make_error_code(DecodeErrc::kInfoLength);
  return SidrRep{.transaction_id = header->transaction_id,
                 .attribute_modifier = header->attribute_modifier,
                 .request_id = CommId{get<kRequestId>(p)},
                 .status = get<kStatus>(p),
                 .vendor_id = std::uint32_t{get<kVendorIdHigh>(p)} << 8 | get<kVendorIdLow>(p),
                 .qpn = Qpn{get<kQpn>(p)},
                 .service_id = ServiceId{get<kServiceId>(p)},
                 .q_key = get<kQKey>(p),
                 .info = bytes_of<kInfo>(p).first(get<kInfoLength>(p)),
                 .private_data = bytes_of<kPrivateData>(p)};
}

void SidrRep::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kSidrRep, attribute_modifier}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kRequestId>(p, value(request_id));
  put<kStatus>(p, status);
  put<kInfoLength>(p, static_cast<std::uint8_t>(info.size()));
  put<kVendorIdHigh>(p, static_cast<std::uint16_t>(vendor_id >> 8));
  put<kQpn>(p, value(qpn));
  put<kVendorIdLow>(p, static_cast<std::uint8_t>(vendor_id));
  put<kServiceId>(p, value(service_id));
  put<kQKey>(p, q_key);
  put_bytes<kInfo>(p, info);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
