// The fault that changes a field of a CM message.
#pragma once

#include <cstdint>
#include <string>

#include "transport/fault/plan/fault.h"
#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::fault {

/// Returns why the fault cannot change messages of this kind; empty: it can.
[[nodiscard]] std::string problem_with_field(CmMessage message, const AlterMessage& alter);
/// Returns why the fault cannot change its message; empty: it can, or it is another fault.
[[nodiscard]] std::string problem_with_field(const Fault& fault);
/// Changes the field in the datagram. Precondition: the datagram is that message, and
/// problem_with_field() returned empty.
void alter(ibcm::wire::MadBuffer mad, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::fault
