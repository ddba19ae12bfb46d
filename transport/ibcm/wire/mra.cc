#include "transport/ibcm/wire/mra.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kMessageMraed{8, 0, 2};
constexpr Field kReserved8{8, 2, 6};
constexpr Field kServiceTimeout{9, 0, 5};
constexpr Field kReserved9{9, 5, 3};
constexpr Field kPrivateData{10, 0, kMraPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"message_mraed", kMessageMraed},
    {"reserved_8", kReserved8},
    {"service_timeout", kServiceTimeout},
    {"reserved_9", kReserved9},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

constexpr std::uint8_t kMessageMax = 2;

}  // namespace

std::span<const NamedField> mra_fields() {
  return kLayout;
}

Result<Mra> Mra::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kMra);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kLocalCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kRemoteCommId>(p) == 0) return make_error_code(DecodeErrc::kCommId);
  if (get<kMessageMraed>(p) > kMessageMax) return make_error_code(DecodeErrc::kMessage);
  return Mra{.transaction_id = header->transaction_id,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .remote_comm_id = CommId{get<kRemoteCommId>(p)},
             .message = static_cast<AnsweredMessage>(get<kMessageMraed>(p)),
             .service_timeout = get<kServiceTimeout>(p),
             .private_data = bytes_of<kPrivateData>(p)};
}

void Mra::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kMra}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kMessageMraed>(p, static_cast<std::uint8_t>(message));
  put<kServiceTimeout>(p, service_timeout);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
