// A process's part of a real-time transport, whichever carrier transports the packets.
#pragma once

#include <cstddef>

#include "transport/realtime/epilogue.h"
#include "transport/soft/device_change.h"
#include "transport/soft/transport.h"
#include "transport/station/packet_watch.h"
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"
#include "verbs/result.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::transport::station {

/// One process as a host in a network, with one or more devices, whose ports have all addresses of
/// the host. `device`: the number of a device, from 0. `rail`: the number of a port, from 0, among
/// the ports of all devices, in the order of devices. Threads:
/// a background thread (all signals blocked) receives packets and runs timers, so that remote reads
/// and writes progress while the application sleeps. It costs nothing when idle. A thread inside
/// the critical section of transport().runtime() cannot be cancelled. A forked child cannot use the
/// parent's station, nor objects made with it, as with the kernel's uverbs. Calls on them in the
/// child have no effect on other processes.
class Station {
 public:
  /// Calls retire() and destroys the objects. Precondition: all endpoints and verbs objects that
  /// were made with the station are destroyed.
  virtual ~Station() = default;

  /// Returns the transport for cm::Id and the C API. Its provider is the software HCA.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// True in a child made by fork() from the process that opened the station. The child then
  /// abandons this object (it may leak it) and opens a new one. Makes no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Leaves the network. Sends what still waits, for at most a fraction of a second. Stops the
  /// background thread, and releases ports, sockets and other resources that other processes may
  /// need. Objects stay in memory; to use or destroy them has no effect on other processes. For
  /// exit(): call it instead of the destructor if other threads may still run. Call it outside the
  /// critical section (verbs::Runtime::enter), and not on the background thread. A second call has
  /// no effect.
  virtual void retire() = 0;

  /// Returns the hook by which work is executed at the end of the critical section (Runtime::enter)
  /// of transport().runtime(), before another thread can enter it.
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;

  // --- faults, inside the critical section and not from an upcall -------------------------------

  /// Removes the device of a rail before the critical section (verbs::Runtime::enter) ends. Ids on
  /// it get DEVICE_REMOVAL, its queue pairs go to ERR, and disconnect messages are sent to the
  /// peers. ENODEV: the device was removed before.
  [[nodiscard]] virtual verbs::Result<void> remove_device(std::size_t rail) = 0;
  /// Sets the port's link down or up. Errors: EALREADY, ENODEV.
  [[nodiscard]] virtual verbs::Result<void> set_port(std::size_t rail, bool active) = 0;
  /// Applies a change of a rail that a gateway could report. Without a gateway, it has no effect.
  virtual void apply(const soft::DeviceChange& /*change*/, std::size_t /*rail*/) {}
  /// Raises an event about a device or its port. The device continues to work. ENODEV: the device
  /// was removed.
  [[nodiscard]] virtual verbs::Result<void> raise_event(std::size_t rail, ibv_event_type event) = 0;

  // --- faults, outside the critical section -----------------------------------------------------

  /// Sets the object that decides about requests before listeners get them; null: none. See
  /// SoftTransport::set_admission.
  virtual void set_admission(soft::Admission* admission) = 0;
  /// Sets the object that decides about verbs calls and posted work; null: none. See
  /// Hca::set_call_gate.
  virtual void set_call_gate(verbs::CallGate* gate) = 0;
  /// Sets the object that decides about packets to and from other processes; null: none. It has no
  /// influence on direct access to memory without packets, if the configuration allows that.
  virtual void set_packet_gate(verbs::PacketGate* gate) = 0;

  // --- recordings, outside the critical section -------------------------------------------------

  /// Sets the observer of packets; null: none. If set_packet_gate() is used, too, call it before.
  virtual void set_packet_watch(PacketWatch* watch) = 0;
  [[nodiscard]] virtual std::size_t devices() const { return 1; }
  [[nodiscard]] virtual std::size_t rails() const { return 1; }
  /// Sets the observer of a device's work; null: none. See Hca::set_observer.
  virtual void set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer) = 0;
  /// Sets the object that gets reports of mistakes with buffers, and of waits for acknowledgements;
  /// null: none. See Hca::set_ownership_sink.
  virtual void set_ownership_sink(verbs::soft::OwnershipSink* sink) = 0;
};

}  // namespace anyrdma::transport::station
