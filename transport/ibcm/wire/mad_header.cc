#include "transport/ibcm/wire/mad_header.h"

#include "transport/ibcm/wire/named_field.h"

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

constexpr auto kLayout = std::to_array<NamedField>({
    {"mad_base_version", kBaseVersion},
    {"mad_management_class", kManagementClass},
    {"mad_class_version", kClassVersion},
    {"mad_method", kMethod},
    {"mad_status", kStatus},
    {"mad_class_specific", kClassSpecific},
    {"mad_transaction_id", kTransactionId},
    {"mad_attribute_id", kAttributeId},
    {"mad_reserved_18", kReserved18},
    {"mad_attribute_modifier", kAttributeModifier},
});
static_assert(tiles(kLayout, kMadHeaderSize));

constexpr std::uint8_t kBaseVersionOne = 1;
constexpr std::uint8_t kClassCm = 7;
constexpr std::uint8_t kCmVersion = 2;
constexpr std::uint8_t kMethodSend = 3;

// The four of them as one number: every message is looked at once by this.
constexpr Field kSignature{0, 0, 32};
constexpr std::uint32_t kCmSend =
    kBaseVersionOne << 24 | kClassCm << 16 | kCmVersion << 8 | kMethodSend;

DecodeErrc fault_of(const std::uint8_t* m) {
  if (get<kBaseVersion>(m) != kBaseVersionOne) return DecodeErrc::kBaseVersion;
  if (get<kManagementClass>(m) != kClassCm) return DecodeErrc::kManagementClass;
  if (get<kClassVersion>(m) != kCmVersion) return DecodeErrc::kClassVersion;
  return DecodeErrc::kMethod;
}

}  // namespace

std::span<const NamedField> header_fields() {
  return kLayout;
}

Result<MadHeader> MadHeader::parse(MadView mad) {
  const std::uint8_t* m = mad.data();
  if (get<kSignature>(m) != kCmSend) return make_error_code(fault_of(m));
  return MadHeader{.transaction_id = get<kTransactionId>(m),
                   .attribute = static_cast<Attribute>(get<kAttributeId>(m)),
                   .attribute_modifier = get<kAttributeModifier>(m)};
}

Result<MadHeader> MadHeader::parse_as(MadView mad, Attribute expected) {
  const std::uint8_t* m = mad.data();
  if (get<kSignature>(m) == kCmSend && get<kAttributeId>(m) != static_cast<std::uint16_t>(expected))
    return make_error_code(DecodeErrc::kAttribute);
  return parse(mad);
}

void MadHeader::serialize(MadBuffer mad) const {
  std::memset(mad.data(), 0, mad.size());
  std::uint8_t* m = mad.data();
  put<kSignature>(m, kCmSend);
  put<kTransactionId>(m, transaction_id);
  put<kAttributeId>(m, static_cast<std::uint16_t>(attribute));
  put<kAttributeModifier>(m, attribute_modifier);
}

Result<MadView> as_mad(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kMadSize) return make_error_code(DecodeErrc::kLength);
  return MadView(bytes.data(), kMadSize);
}

}  // namespace anyrdma::ibcm::wire
