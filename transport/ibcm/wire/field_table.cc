#include "transport/ibcm/wire/field_table.h"

#include <algorithm>

namespace anyrdma::ibcm::wire {
namespace {

std::optional<Field> find_in(std::span<const NamedField> fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &NamedField::name);
  if (found == fields.end()) return std::nullopt;
  return found->field;
}

}  // namespace

std::span<const NamedField> fields_of(Attribute message) {
  switch (message) {
    case Attribute::kReq:
      return req_fields();
    case Attribute::kMra:
      return mra_fields();
    case Attribute::kRej:
      return rej_fields();
    case Attribute::kRep:
      return rep_fields();
    case Attribute::kRtu:
      return rtu_fields();
    case Attribute::kDreq:
      return dreq_fields();
    case Attribute::kDrep:
      return drep_fields();
    case Attribute::kSidrReq:
      return sidr_req_fields();
    case Attribute::kSidrRep:
      return sidr_rep_fields();
    case Attribute::kLap:
      return lap_fields();
    case Attribute::kApr:
      return apr_fields();
  }
  return {};
}

std::optional<Field> find_field(Attribute message, std::string_view name) {
  if (const auto own = find_in(fields_of(message), name)) {
    return Field{own->byte + static_cast<unsigned>(kMadHeaderSize), own->bit, own->width};
  }
  return find_in(header_fields(), name);
}

void put_field(MadBuffer mad, const Field& field, std::uint64_t number) {
  const unsigned end = field.first_bit() + field.width;
  const unsigned width = std::min(field.width, 64u);
  for (unsigned i = 0; i < width; ++i, number >>= 1) {
    const unsigned at = end - 1 - i;
    const auto bit = static_cast<std::uint8_t>(0x80u >> at % 8);
    std::uint8_t& byte = mad[at / 8];
    byte = static_cast<std::uint8_t>((number & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

}  // namespace anyrdma::ibcm::wire
