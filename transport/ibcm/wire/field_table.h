// Fields of the CM's messages by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transport/ibcm/wire/mad_header.h"
#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {

/// Those of a message behind the header; none of one that is unknown.
[[nodiscard]] std::span<const NamedField> fields_of(Attribute message);
/// Where in the MAD a field of the message, or of its header, is. Nothing: there is none of that
/// name.
[[nodiscard]] std::optional<Field> find_field(Attribute message, std::string_view name);
/// Writes the last 64 bits of a field, or all of it if it is shorter, and leaves all else alone.
void put_field(MadBuffer mad, const Field& field, std::uint64_t number);

}  // namespace anyrdma::ibcm::wire
