#include "transport/ibcm/wire/drep.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kPrivateData{8, 0, kDrepPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

}  // namespace

std::span<const NamedField> drep_fields() {
  return kLayout;
}

Result<Drep> Drep::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kDrep);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  return Drep{.transaction_id = header->transaction_id,
              .local_comm_id = CommId{get<kLocalCommId>(p)},
              .remote_comm_id = CommId{get<kRemoteCommId>(p)},
              .private_data = bytes_of<kPrivateData>(p)};
}

void Drep::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kDrep}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
