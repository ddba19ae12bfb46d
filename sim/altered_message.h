// Changes fields of CM messages on their way through the network, for the fault action `alter`.
#pragma once

#include <cstdint>

#include "sim/fault_plan.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Changes fields of the CM message in a packet, as the fault action `alter` says. Precondition:
/// the packet carries a message with that attribute id, and fault::problem_with_field finds no
/// problem.
void alter(verbs::soft::Packet& packet, std::uint16_t attribute, const AlterMessage& alter);

}  // namespace anyrdma::sim
