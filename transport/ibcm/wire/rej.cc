#include "transport/ibcm/wire/rej.h"

#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::bytes_of;
using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kLocalCommId{0, 0, 32};
constexpr Field kRemoteCommId{4, 0, 32};
constexpr Field kMessageRejected{8, 0, 2};
constexpr Field kReserved8{8, 2, 6};
constexpr Field kInfoLength{9, 0, 7};
constexpr Field kReserved9{9, 7, 1};
constexpr Field kReason{10, 0, 16};
constexpr Field kInfo{12, 0, kRejInfoSize * 8};
constexpr Field kPrivateData{84, 0, kRejPrivateDataSize * 8};

constexpr auto kLayout = std::to_array<NamedField>({
    {"local_comm_id", kLocalCommId},
    {"remote_comm_id", kRemoteCommId},
    {"message_rejected", kMessageRejected},
    {"reserved_8", kReserved8},
    {"info_length", kInfoLength},
    {"reserved_9", kReserved9},
    {"reason", kReason},
    {"info", kInfo},
    {"private_data", kPrivateData},
});
static_assert(tiles(kLayout, kMadPayloadSize));

constexpr std::uint8_t kMessageMax = 2;

}  // namespace

std::span<const NamedField> rej_fields() {
  return kLayout;
}

Result<Rej> Rej::parse(MadView mad) {
  const Result<MadHeader> header = MadHeader::parse_as(mad, Attribute::kRej);
  if (!header) return header.error();
  const std::uint8_t* p = payload(mad);
  if (get<kMessageRejected>(p) > kMessageMax) return make_error_code(DecodeErrc::kMessage);
  if (get<kInfoLength>(p) > kRejInfoSize) return make_error_code(DecodeErrc::kInfoLength);
  return Rej{.transaction_id = header->transaction_id,
             .local_comm_id = CommId{get<kLocalCommId>(p)},
             .remote_comm_id = CommId{get<kRemoteCommId>(p)},
             .message = static_cast<AnsweredMessage>(get<kMessageRejected>(p)),
             .reason = get<kReason>(p),
             .info = bytes_of<kInfo>(p).first(get<kInfoLength>(p)),
             .private_data = bytes_of<kPrivateData>(p)};
}

void Rej::serialize(MadBuffer mad) const {
  MadHeader{transaction_id, Attribute::kRej}.serialize(mad);
  std::uint8_t* p = payload(mad);
  put<kLocalCommId>(p, value(local_comm_id));
  put<kRemoteCommId>(p, value(remote_comm_id));
  put<kMessageRejected>(p, static_cast<std::uint8_t>(message));
  put<kInfoLength>(p, static_cast<std::uint8_t>(info.size()));
  put<kReason>(p, reason);
  put_bytes<kInfo>(p, info);
  put_bytes<kPrivateData>(p, private_data);
}

}  // namespace anyrdma::ibcm::wire
