// Packets and what events carry, in the canonical form in which traces and recordings keep them.
#pragma once

#include <rdma/rdma_cma.h>

#include "sim/packets/fields.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Both GIDs, then what append_packet() and restore_packet() read. A payload that is lent need not
/// have been kept.
[[nodiscard]] FieldWriter fields_of(const verbs::soft::Packet& packet);

/// What an event carries, as it stands behind its status: what append_parameters() reads.
void put_parameters(FieldWriter& out, const rdma_cm_event& event);

}  // namespace anyrdma::sim
