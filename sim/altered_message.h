// Messages of the CM that are other than they were sent.
#pragma once

#include <cstdint>

#include "sim/fault_plan.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Precondition: the packet carries that message, and there is no fault::problem_with_field.
void alter(verbs::soft::Packet& packet, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::sim
