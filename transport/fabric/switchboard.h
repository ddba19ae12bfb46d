// Where a packet goes: the fabric's routing table is the packet itself, because queue pair numbers
// and comm ids carry the slot of the process that made them.
#pragma once

#include <cstdint>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

enum class Audience : std::uint8_t {
  kOne,        ///< the process at `slot`, which may be ourselves
  kEveryone,   ///< all, the sender included: it does not know for whom it is
  kUnclaimed,  ///< listeners of this request; there is none now. `slot` is ourselves
  kNobody,     ///< no RoCE packet
};

struct Destination {
  Audience audience = Audience::kNobody;
  Slot slot{};
  /// Of a connection request: its sender's comm id; else 0.
  wire::CommId request{};
  /// The port that it asks for; else 0.
  std::uint16_t port = 0;
};

/// A connection request goes to the listener of its service and address. If there is none, our own
/// CM agent answers as the peer's would (REJ 8). Other CM messages go to the maker of the remote
/// comm id; a REJ that names none (its sender gave up waiting) to everyone, as multicast.
[[nodiscard]] Destination destination_of(const verbs::soft::Packet& packet, Registry& registry);

}  // namespace anyrdma::transport::fabric
