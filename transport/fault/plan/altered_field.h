// Carries out the fault that changes a field of a CM message (AlterMessage).
#pragma once

#include <cstdint>
#include <string>

#include "transport/fault/plan/fault.h"
#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::fault {

/// Returns why the fault cannot change messages of this kind. Empty: the fault can change them.
[[nodiscard]] std::string problem_with_field(CmMessage message, const AlterMessage& alter);
/// Returns why the fault cannot change the message of its trigger. Empty: it can, or the fault is
/// of another kind.
[[nodiscard]] std::string problem_with_field(const Fault& fault);
/// Changes the field in the datagram. Precondition: the datagram is the message of the fault, and
/// problem_with_field() has returned an empty text.
void alter(ibcm::wire::MadBuffer mad, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::fault
