// The interface of an observer of the packets of a real-time transport.
#pragma once

#include "verbs/soft/packet.h"

namespace anyrdma::transport::station {

/// Observes the packets of a real-time transport. Called inside the critical section
/// (verbs::Runtime::enter). An observer must not call back.
class PacketWatch {
 public:
  virtual ~PacketWatch() = default;
  /// A packet is about to be sent. `own`: its destination is this process. on_passed() follows.
  virtual void on_leaving(const verbs::soft::Packet& packet, bool own) = 0;
  /// A packet has arrived from another process. on_passed() follows.
  virtual void on_arriving(const verbs::soft::Packet& packet) = 0;
  /// The packet that on_leaving() or on_arriving() has reported was passed on, or a fault plan has
  /// decided about it.
  virtual void on_passed() = 0;
};

}  // namespace anyrdma::transport::station
