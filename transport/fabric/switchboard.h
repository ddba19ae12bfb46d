// Determines the destination process of a packet. No routing table is needed: queue pair numbers
// and comm ids contain the number (slot) of the process that made them.
#pragma once

#include <cstdint>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

enum class Audience : std::uint8_t {
  kOne,  ///< the process at `slot`, which may be this process

  /// All processes, the sender included, because the packet does not say which one it is for.
  kEveryone,
  kUnclaimed,  ///< a connection request for which no process listens; `slot` is this process
  kNobody,     ///< no process: the packet is not a RoCE packet
};

struct Destination {
  Audience audience = Audience::kNobody;
  Slot slot{};
  /// The sender's comm id of a connection request; 0 for other packets.
  wire::CommId request{};
  /// The port of a connection request; 0 for other packets.
  std::uint16_t port = 0;
};

/// Returns the destination of a packet. A connection request goes to the process that listens on
/// its service and address. If there is none, this process's own CM agent answers as the peer's
/// would (REJ, reason 8). Other CM messages go to the process that made the remote comm id. A REJ
/// without remote comm id (its sender gave up waiting) and multicast go to all processes.
[[nodiscard]] Destination destination_of(const verbs::soft::Packet& packet, Registry& registry);

}  // namespace anyrdma::transport::fabric
