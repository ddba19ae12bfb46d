#include "transport/ibcm/wire/apr.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kInfoLength{8, 0, 8};
constexpr Field kStatus{9, 0, 8};
constexpr Field kReserved10{10, 0, 16};
constexpr Field kInfo{12, 0, kAprInfoSize * 8};
constexpr Field kPrivateData{84, 0, kAprPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"info_length", kInfoLength},
    {"status", kStatus},
    {"reserved_10", kReserved10},
    {"info", kInfo},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

}  // namespace

std::span<const NamedField> apr_fields() {
  return kLayout;
}

Result<Apr> Apr::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kApr);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kInfoLength>(p) > kAprInfoSize) return make_error_code(DecodeErrc::kInfoLength);
  return Apr{.transaction_id = header->transaction_id,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .remote_comm_id = CommId{get<kRemoteCommId>(p)},
             .status = get<kStatus>(p),
             .info = bytes_of<kInfo>(p).first(get<kInfoLength>(p)),
             .private_data = bytes_of<kPrivateData>(p)};
}

void Apr::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kApr}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kInfoLength>(p, static_cast<std::uint8_t>(info.size()));
  put<kStatus>(p, status);
  put_bytes<kInfo>(p, info);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
