// The interface that carries packets between processes, independent of the medium.
#pragma once

#include <chrono>
#include <optional>

#include "verbs/soft/packet.h"
#include "verbs/time.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::station {

/// Used inside the critical section, with thread cancellation off. No call blocks, except flush(),
/// which says so.
class Carrier {
 public:
  /// Called from poll(), send() and transmit() only, and may call send() but nothing else.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    /// A packet has arrived from another process.
    virtual void on_packet(verbs::soft::PacketPtr packet) = 0;
    /// A packet from this process to itself: delivered after the sender has left the call.
    virtual void on_own_packet(verbs::soft::PacketPtr packet) = 0;
  };

  virtual ~Carrier() = default;

  /// Returns a descriptor that is readable when poll() has something to do.
  [[nodiscard]] virtual int fd() const = 0;
  /// Queues a packet for the destination in its headers; transmit() sends it. A packet that cannot
  /// be sent is lost, and retransmitted.
  virtual void send(verbs::soft::PacketPtr packet) = 0;
  /// Whether send() would deliver the packet only to on_own_packet().
  [[nodiscard]] virtual bool is_own(const verbs::soft::Packet& packet) const = 0;
  /// Fills in the fields that the peer will see, the ICRC included.
  virtual void seal(verbs::soft::Packet& packet) const = 0;
  /// Whether a packet to that queue pair, sent now, might be lost because too much waits already.
  [[nodiscard]] virtual bool is_full(wire::Qpn /*destination*/) const { return false; }
  /// Sends queued packets until the system accepts no more.
  virtual void transmit() = 0;
  /// Receives packets, and sends queued ones where that has become possible. It stops after a few
  /// hundred packets. False: there was nothing to do.
  virtual bool poll() = 0;
  /// Like the function above, for a caller that polls without pause: cheaper, if most arrivals are
  /// visible without a system call.
  virtual bool glance() { return poll(); }
  /// True: a thread calls glance() all the time, so fd() need not become readable. False: none does
  /// any more; then poll() must be called once, for packets that came just before.
  virtual void set_awake(bool /*awake*/) {}
  /// The time at which poll() must be called although fd() is not readable; nullopt: none.
  [[nodiscard]] virtual std::optional<verbs::Instant> next_deadline() const = 0;
  /// Whether report() has something to report.
  [[nodiscard]] virtual bool has_report() const = 0;
  /// Reports changes other than packets to the transport, such as peers that ended. False: there
  /// were none.
  virtual bool report(verbs::Instant now) = 0;

  /// Waits until no packet is queued, at most for `limit`.
  virtual void flush(std::chrono::milliseconds limit) = 0;
  /// Releases everything that other processes may need; later sends have no effect.
  virtual void close() = 0;
  /// Call in a forked child: closes everything shared with the parent, without effect on the
  /// parent.
  virtual void abandon() = 0;
};

}  // namespace anyrdma::transport::station
