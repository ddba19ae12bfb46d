// An observer of a station's packets.
#pragma once

#include "verbs/soft/packet.h"

namespace anyrdma::transport::station {

/// Inside the critical section. Must not call back.
class PacketWatch {
 public:
  virtual ~PacketWatch() = default;
  /// One leaves; `own`: from ourselves to ourselves. Then comes on_passed().
  virtual void on_leaving(const verbs::soft::Packet& packet, bool own) = 0;
  /// One has come from another process. Then comes on_passed().
  virtual void on_arriving(const verbs::soft::Packet& packet) = 0;
  /// The last packet has been sent, or a fault plan has decided about it.
  virtual void on_passed() = 0;
};

}  // namespace anyrdma::transport::station
