// Messages of the CM that are other than they were sent.
#pragma once

#include <cstdint>
#include <string>

#include "sim/fault_plan.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// What is wrong with altering messages of a kind so; empty: nothing.
[[nodiscard]] std::string problem_with_field(CmMessage message, const AlterMessage& alter);
/// Precondition: the packet carries that message, and there is no problem with the field.
void alter(verbs::soft::Packet& packet, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::sim
