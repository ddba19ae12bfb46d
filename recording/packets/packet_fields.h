// Encodes packets and the parameters of CM events as bytes, in the form that traces and recordings
// use.
#pragma once

#include <rdma/rdma_cma.h>

#include "recording/packets/fields.h"
#include "verbs/soft/packet.h"

namespace anyrdma::recording {

/// Returns the fields of a packet: both GIDs, then the fields that append_packet() and
/// restore_packet() read. If the packet's payload is still in the memory of its sender
/// (Packet::lent), the payload may be missing.
[[nodiscard]] FieldWriter fields_of(const verbs::soft::Packet& packet);

/// Writes an event's parameters, after its status, for append_parameters().
void put_parameters(FieldWriter& out, const rdma_cm_event& event);

}  // namespace anyrdma::recording
