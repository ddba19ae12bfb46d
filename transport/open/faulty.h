// An opened transport with faults.
#pragma once

#include <memory>

#include "transport/open/opened.h"
#include "transport/realtime/epilogue.h"
#include "transport/soft/transport.h"
#include "verbs/packet_gate.h"

namespace anyrdma::transport {

/// The interface by which faults are carried out on a transport.
class Concluding {
 public:
  virtual ~Concluding() = default;
  /// Returns the hook for work at the end of the critical section of the transport's runtime.
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;
};

/// The way faults reach the layer below a transport, where that is possible.
class Breakable {
 public:
  virtual ~Breakable() = default;
  /// As station::Station has them: the first three inside the critical section.
  [[nodiscard]] virtual verbs::Result<void> remove_device() = 0;
  [[nodiscard]] virtual verbs::Result<void> set_port(bool active) = 0;
  [[nodiscard]] virtual verbs::Result<void> raise_event(ibv_event_type event) = 0;
  virtual void set_admission(soft::Admission* admission) = 0;
  virtual void set_call_gate(verbs::CallGate* gate) = 0;
  virtual void set_packet_gate(verbs::PacketGate* gate) = 0;
};

/// `below` with the faults of a plan: its transport() is another. `concluding` is part of `below`,
/// and so is `breakable`, or null. Starts a thread, which sleeps until something is due. Errors:
/// EMFILE, ENOMEM, EAGAIN.
[[nodiscard]] OpenResult with_faults(std::unique_ptr<Opened> below, Concluding& concluding,
                                     Breakable* breakable, const FaultOptions& options);

}  // namespace anyrdma::transport
