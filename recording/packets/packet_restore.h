// Restores a packet from its fields in a trace record or a recording.
#pragma once

#include <cstddef>

#include "recording/packets/fields.h"
#include "verbs/soft/packet.h"

namespace anyrdma::recording {

/// Fills the payload and protocol of a packet from recorded fields. `fields` begins behind the two
/// GIDs. Payload bytes that were not recorded become zeros. Returns the number of leading payload
/// bytes that are the original ones; 0: the packet cannot be restored.
[[nodiscard]] std::size_t restore_packet(FieldReader& fields, verbs::soft::Packet& packet);

}  // namespace anyrdma::recording
