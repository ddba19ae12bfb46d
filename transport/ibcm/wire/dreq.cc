#include "transport/ibcm/wire/dreq.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kRemoteQpn{8, 0, 24};
constexpr Field kReserved11{11, 0, 8};
constexpr Field kPrivateData{12, 0, kDreqPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"remote_qpn", kRemoteQpn},
    {"reserved_11", kReserved11},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

}  // namespace

std::span<const NamedField> dreq_fields() {
  return kLayout;
}

Result<Dreq> Dreq::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kDreq);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  return Dreq{.transaction_id = header->transaction_id,
              .local_comm_id = CommId{get<kLocalCommId>(p)},
              .remote_comm_id = CommId{get<kRemoteCommId>(p)},
              .remote_qpn = Qpn{get<kRemoteQpn>(p)},
              .private_data = bytes_of<kPrivateData>(p)};
}

void Dreq::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kDreq}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kRemoteQpn>(p, value(remote_qpn));
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
