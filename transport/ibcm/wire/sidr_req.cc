#include "transport/ibcm/wire/sidr_req.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kRequestId{0, 0, 32};
constexpr Field kPartitionKey{4, 0, 16};
constexpr Field kReserved6{6, 0, 16};
constexpr Field kServiceId{8, 0, 64};
constexpr Field kPrivateData{16, 0, kSidrReqPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"request_id", kRequestId},
    {"partition_key", kPartitionKey},
    {"reserved_6", kReserved6},
    {"service_id", kServiceId},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

}  // namespace

std::span<const NamedField> sidr_req_fields() {
  return kLayout;
}

Result<SidrReq> SidrReq::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kSidrReq);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kRequestId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  return SidrReq{.transaction_id = header->transaction_id,
                 .request_id = CommId{get<kRequestId>(p)},
                 .partition_key = get<kPartitionKey>(p),
                 .service_id = ServiceId{get<kServiceId>(p)},
                 .private_data = bytes_of<kPrivateData>(p)};
}

void SidrReq::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kSidrReq}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kRequestId>(p, value(request_id));
  put<kPartitionKey>(p, partition_key);
  put<kServiceId>(p, value(service_id));
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
