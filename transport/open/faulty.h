// An opened transport with faults.
#pragma once

#include <memory>

#include "transport/open/opened.h"
#include "transport/soft/transport.h"

namespace anyrdma::transport {

/// How faults reach what is below a transport, where they can.
class Breakable {
 public:
  virtual ~Breakable() = default;
  /// As fabric::Station has them.
  [[nodiscard]] virtual verbs::Result<void> remove_device() = 0;
  [[nodiscard]] virtual verbs::Result<void> set_port(bool active) = 0;
  virtual void set_admission(soft::Admission* admission) = 0;
  virtual void set_call_gate(verbs::CallGate* gate) = 0;
};

/// `below` with the faults of a plan: its transport() is another. `breakable` is part of `below`,
/// or null. Starts a thread, which sleeps until something is due. Errors: EMFILE, ENOMEM, EAGAIN.
[[nodiscard]] OpenResult with_faults(std::unique_ptr<Opened> below, Breakable* breakable,
                                     const FaultOptions& options);

}  // namespace anyrdma::transport
