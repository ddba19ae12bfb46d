// Finds fields of CM messages by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transport/ibcm/wire/mad_header.h"
#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {

/// Returns the fields of a message, except those of its header. Empty: unknown message.
[[nodiscard]] std::span<const NamedField> fields_of(Attribute message);
/// Returns the place of a field in the MAD. The field may be one of the message or of the MAD
/// header. nullopt: no field has that name.
[[nodiscard]] std::optional<Field> find_field(Attribute message, std::string_view name);
/// Writes the last 64 bits of a field, or the whole field if it is shorter. Other bits of the MAD
/// stay unchanged.
void put_field(MadBuffer mad, const Field& field, std::uint64_t number);

}  // namespace anyrdma::ibcm::wire
