// Packets and what events carry, in the canonical form in which traces and recordings keep them.
#pragma once

#include <rdma/rdma_cma.h>

#include "sim/packets/fields.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Both GIDs, then what append_packet() and restore_packet() read. A payload that is lent need not
/// have been kept.
[[nodiscard]] FieldWriter fields_of(const verbs::soft::Packet& packet);

/// Writes an event's parameters, after its status, for append_parameters().
void put_parameters(FieldWriter& out, const rdma_cm_event& event);

}  // namespace anyrdma::sim
