#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire {
namespace {

using anyrdma::wire::get;
using anyrdma::wire::put;

constexpr Field kBaseVersion{0, 0, 8};
constexpr Field kManagementClass{1, 0, 8};
constexpr Field kClassVersion{2, 0, 8};
constexpr Field kMethod{3, 0, 8};
constexpr Field kStatus{4, 0, 16};
constexpr Field kClassSpecific{6, 0, 16};
constexpr Field kTransactionId{8, 0, 64};
constexpr Field kAttributeId{16, 0, 16};
constexpr Field kReserved18{18, 0, 16};
constexpr Field kAttributeModifier{20, 0, 32};

constexpr std::array kLayout{kBaseVersion, kManagementClass,  kClassVersion,  kMethod,
                             kStatus,      kClassSpecific,    kTransactionId, kAttributeId,
                             kReserved18,  kAttributeModifier};
static_assert(tiles(kLayout, kMadHeaderSize));

constexpr std::uint8_t kBaseVersionOne = 1;
constexpr std::uint8_t kClassCm = 7;
constexpr std::uint8_t kCmVersion = 2;
constexpr std::uint8_t kMethodSend = 3;

}  // namespace

Result<MadHeader> MadHeader::parse(MadView mad) {
  const std::uint8_t* m = mad.data();
  if (get<kBaseVersion>(m) != kBaseVersionOne) return make_error_code(DecodeErrc::kBaseVersion);
  if (get<kManagementClass>(m) != kClassCm) return make_error_code(DecodeErrc::kManagementClass);
  if (get<kClassVersion>(m) != kCmVersion) return make_error_code(DecodeErrc::kClassVersion);
  if (get<kMethod>(m) != kMethodSend) return make_error_code(DecodeErrc::kMethod);
  return MadHeader{.transaction_id = get<kTransactionId>(m),
                   .attribute = static_cast<Attribute>(get<kAttributeId>(m)),
                   .attribute_modifier = get<kAttributeModifier>(m)};
}

Result<MadHeader> MadHeader::parse_as(MadView mad, Attribute expected) {
  Result<MadHeader> header = parse(mad);
  if (header && header->attribute != expected) return make_error_code(DecodeErrc::kAttribute);
  return header;
}

void MadHeader::serialize(MadBuffer mad) const {
  std::ranges::fill(mad, std::uint8_t{0});
  std::uint8_t* m = mad.data();
  put<kBaseVersion>(m, kBaseVersionOne);
  put<kManagementClass>(m, kClassCm);
  put<kClassVersion>(m, kCmVersion);
  put<kMethod>(m, kMethodSend);
  put<kTransactionId>(m, transaction_id);
  put<kAttributeId>(m, static_cast<std::uint16_t>(attribute));
  put<kAttributeModifier>(m, attribute_modifier);
}

Result<MadView> as_mad(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kMadSize) return make_error_code(DecodeErrc::kLength);
  return MadView(bytes.data(), kMadSize);
}

}  // namespace anyrdma::ibcm::wire
