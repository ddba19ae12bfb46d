// Fields of the CM's messages by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transport/ibcm/wire/mad_header.h"
#include "transport/ibcm/wire/named_field.h"

namespace anyrdma::ibcm::wire {

/// The fields of a message after its header; none for an unknown message.
[[nodiscard]] std::span<const NamedField> fields_of(Attribute message);
/// The place of a field of the message, or of its header, in the MAD. nullopt: there is no field of
/// that name.
[[nodiscard]] std::optional<Field> find_field(Attribute message, std::string_view name);
/// Writes the last 64 bits of a field, or the whole field if it is shorter, and changes nothing
/// else.
void put_field(MadBuffer mad, const Field& field, std::uint64_t number);

}  // namespace anyrdma::ibcm::wire
