// A packet made again from what a trace record or a recording keeps of it.
#pragma once

#include <cstddef>

#include "sim/packets/fields.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Fills the packet's payload and protocol from the fields behind both GIDs; what was not kept is
/// zeros. How many bytes of the payload are as they were, from the front; 0: it cannot be made.
[[nodiscard]] std::size_t restore_packet(FieldReader& fields, verbs::soft::Packet& packet);

}  // namespace anyrdma::sim
