// Adds the faults of a plan to an opened transport.
#pragma once

#include <cstddef>
#include <memory>

#include "transport/open/opened.h"
#include "transport/realtime/epilogue.h"
#include "transport/soft/device_change.h"
#include "transport/soft/transport.h"
#include "verbs/packet_gate.h"

namespace anyrdma::transport {

/// The interface by which faults are carried out at the end of a transport's critical section
/// (verbs::Runtime::enter).
class Concluding {
 public:
  virtual ~Concluding() = default;
  /// Returns the hook by which work is executed at the end of the critical section
  /// (verbs::Runtime::enter) of the transport's runtime, before another thread can enter it.
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;
};

/// The interface by which faults act on the device and the packets below a transport. Not every
/// transport has it.
class Breakable {
 public:
  virtual ~Breakable() = default;
  /// Returns the number of rails: of the ports of all devices.
  [[nodiscard]] virtual std::size_t rails() const = 0;
  /// The functions are those of station::Station. Call those up to apply() inside the critical
  /// section (verbs::Runtime::enter).
  [[nodiscard]] virtual verbs::Result<void> remove_device(std::size_t rail) = 0;
  [[nodiscard]] virtual verbs::Result<void> set_port(std::size_t rail, bool active) = 0;
  [[nodiscard]] virtual verbs::Result<void> raise_event(std::size_t rail, ibv_event_type event) = 0;
  virtual void apply(const soft::DeviceChange& change, std::size_t rail) = 0;
  virtual void set_admission(soft::Admission* admission) = 0;
  virtual void set_call_gate(verbs::CallGate* gate) = 0;
  virtual void set_packet_gate(verbs::PacketGate* gate) = 0;
};

/// Returns `below` with the faults of a plan, which has another transport(). `concluding` is part
/// of `below`. `breakable` is also part of it, or null. Starts a thread, which sleeps until a fault
/// is due. Errors: EMFILE, ENOMEM, EAGAIN.
[[nodiscard]] OpenResult with_faults(std::unique_ptr<Opened> below, Concluding& concluding,
                                     Breakable* breakable, const FaultOptions& options);

}  // namespace anyrdma::transport
