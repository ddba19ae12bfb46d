// A process's part of a real-time transport, independent of the packet carrier.
#pragma once

#include "transport/realtime/epilogue.h"
#include "transport/soft/transport.h"
#include "transport/station/packet_watch.h"
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"
#include "verbs/result.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::transport::station {

/// One process's place in a network: one device, and a host to whom its addresses belong. Threads:
/// a background thread (all signals blocked) takes in packets and runs timers, so that remote reads
/// and writes progress while the application sleeps; it costs nothing when idle. The critical
/// section of transport().runtime() disables thread cancellation while it is held. fork: a child
/// cannot use the parent's station nor objects made with it (as with the kernel's uverbs). In the
/// child the parent's station is cut off: calls have no effect on other processes.
class Station {
 public:
  /// Retires. Precondition: all endpoints and verbs objects made with it are destroyed.
  virtual ~Station() = default;

  /// The transport of cm::Id and the C API; its provider is the software HCA.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// True in a child made by fork() from the process that opened it. The owner then abandons this
  /// object (it may leak it) and opens a new one. Cheap: no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Leaves the network: sends what still waits (bounded: at most a fraction of a second), stops
  /// the thread, and gives back what other processes may want: ports, sockets, a place. Objects
  /// stay in memory and may still be used or destroyed, without effect on anyone. For exit(): a
  /// process whose threads may still be running calls this instead of destroying. Outside the
  /// critical section; not from the background thread. Calling it again has no effect.
  virtual void retire() = 0;

  /// Returns the hook for work at the end of the critical section of transport().runtime().
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;

  // --- faults, inside the critical section and not from an upcall -------------------------------
  /// Unplugs the device before the critical section ends: ids on it get DEVICE_REMOVAL, its queue
  /// pairs go to ERR, and disconnect messages are sent to the peers. ENODEV: it was removed
  /// already.
  [[nodiscard]] virtual verbs::Result<void> remove_device() = 0;
  /// Sets the port's link down or up. Errors: EALREADY, ENODEV.
  [[nodiscard]] virtual verbs::Result<void> set_port(bool active) = 0;
  /// The device raises an event that is about itself or its port, and goes on. ENODEV.
  [[nodiscard]] virtual verbs::Result<void> raise_event(ibv_event_type event) = 0;

  // --- faults, outside the critical section -----------------------------------------------------
  /// Sets the filter of requests before listeners get them; may be null. As
  /// SoftTransport::set_admission.
  virtual void set_admission(soft::Admission* admission) = 0;
  /// Sets the filter of verbs calls and posted work; may be null. As Hca::set_call_gate.
  virtual void set_call_gate(verbs::CallGate* gate) = 0;
  /// Sets the filter of packets to and from others; null removes it. RDMA without packets, if the
  /// configuration has it, is not filtered.
  virtual void set_packet_gate(verbs::PacketGate* gate) = 0;

  // --- recordings, outside the critical section -------------------------------------------------
  /// Sets the observer of packets; null removes it. Call it after set_packet_gate if both are used.
  virtual void set_packet_watch(PacketWatch* watch) = 0;
  /// Sets the observer of the device's work; null removes it. As Hca::set_observer.
  virtual void set_work_observer(verbs::soft::HcaObserver* observer) = 0;
  /// Sets who hears of mistakes with buffers, and of waits for acknowledgements; null removes it.
  /// As Hca::set_ownership_sink.
  virtual void set_ownership_sink(verbs::soft::OwnershipSink* sink) = 0;
};

}  // namespace anyrdma::transport::station
