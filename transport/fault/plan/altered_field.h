// Fields of the CM's messages that have another value than their sender gave them.
#pragma once

#include <cstdint>
#include <string>

#include "transport/fault/plan/fault.h"
#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::fault {

/// Why messages of this kind cannot be altered so; empty: they can.
[[nodiscard]] std::string problem_with_field(CmMessage message, const AlterMessage& alter);
/// Why the fault cannot alter its message; empty: it can, or it alters nothing.
[[nodiscard]] std::string problem_with_field(const Fault& fault);
/// Precondition: the datagram is that message, and there is no problem with the field.
void alter(ibcm::wire::MadBuffer mad, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::fault
