// The interface of objects that carry packets between processes, through shared memory or UDP
// sockets, for example.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"
#include "verbs/time.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::station {

/// A port of a device of this process, with the network interface that carries it.
struct Rail {
  verbs::soft::Hca* hca = nullptr;
  std::uint8_t port = 1;
};

/// Carries packets to and from other processes. All functions are called inside the critical
/// section (verbs::Runtime::enter), with thread cancellation disabled. No function blocks except
/// flush().
class Carrier {
 public:
  /// The interface of the object that receives packets. Its functions are called only from poll(),
  /// send() and transmit(). They may call send(), and no other function of the carrier.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    /// A packet has arrived from another process.
    virtual void on_packet(verbs::soft::PacketPtr packet) = 0;
    /// A packet from this process to itself was sent. It is delivered after the sender has left its
    /// call.
    virtual void on_own_packet(verbs::soft::PacketPtr packet) = 0;
  };

  virtual ~Carrier() = default;

  /// Returns a descriptor that is readable when poll() has something to do.
  [[nodiscard]] virtual int fd() const = 0;
  /// Queues a packet for the destination in its headers; transmit() sends it. A packet that cannot
  /// be sent is lost, and the RDMA protocol sends it again.
  virtual void send(verbs::soft::PacketPtr packet) = 0;
  /// Whether send() would deliver the packet only to this process, through on_own_packet().
  [[nodiscard]] virtual bool is_own(const verbs::soft::Packet& packet) const = 0;
  /// Returns the number of the rail, from 0, that receives the packet. Call it with a packet that
  /// the carrier has passed to its receiver.
  [[nodiscard]] virtual std::size_t rail_of(const verbs::soft::Packet& /*packet*/) const {
    return 0;
  }
  /// Fills in the fields of the packet's headers that the peer will see, and the ICRC.
  virtual void seal(verbs::soft::Packet& packet) const = 0;
  /// Whether a packet to that queue pair might be lost if it were sent now, because too many
  /// packets wait.
  [[nodiscard]] virtual bool is_full(wire::Qpn /*destination*/) const { return false; }
  /// Sends queued packets until the system accepts no more.
  virtual void transmit() = 0;
  /// Receives packets, and sends queued packets where that has become possible. Returns after a few
  /// hundred packets, even if more wait. False: there was nothing to do.
  virtual bool poll() = 0;
  /// Like poll(), for a caller that polls without pause. It is cheaper if most arrivals are visible
  /// without a system call.
  virtual bool glance() { return poll(); }
  /// Says whether a thread calls glance() all the time. If true, fd() need not become readable.
  /// After set_awake(false), call poll() once, for packets that arrived just before.
  virtual void set_awake(bool /*awake*/) {}
  /// Returns the time at which poll() must be called although fd() is not readable; nullopt: none.
  [[nodiscard]] virtual std::optional<verbs::Instant> next_deadline() const = 0;
  /// Whether report() has something to report.
  [[nodiscard]] virtual bool has_report() const = 0;
  /// Reports changes other than packets to the transport, such as peers that have ended. False:
  /// there were no changes.
  virtual bool report(verbs::Instant now) = 0;

  /// Waits until no packet is queued, at most for the time `limit`.
  virtual void flush(std::chrono::milliseconds limit) = 0;
  /// Releases everything that other processes may need. Later packets are dropped.
  virtual void close() = 0;
  /// Call in a forked child. Closes everything that is shared with the parent, without effect on
  /// the parent.
  virtual void abandon() = 0;
};

}  // namespace anyrdma::transport::station
