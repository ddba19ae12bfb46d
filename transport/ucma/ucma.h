// The kernel's RDMA connection manager and devices, real or Soft-RoCE, through the system's
// librdmacm and libibverbs, which are loaded at run time.
#pragma once

#include <memory>

#include "transport/realtime/epilogue.h"
#include "transport/transport.h"
#include "transport/ucma/config.h"
#include "transport/ucma/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::ucma {

using verbs::Result;

struct System;

/// Usable from open() until retire() or destruction. A process may open several: each has an event
/// channel and endpoints of its own, on the same devices. Threads: a background thread (all signals
/// blocked) takes the kernel's events; posting and polling go from the caller to the device without
/// it. The critical section of transport().runtime() disables thread cancellation while it is held.
/// librdmacm keeps the devices open until the process ends; Linux removes a Soft-RoCE device no
/// sooner, though endpoints hear of its removal at once. fork: a child cannot use the parent's
/// endpoints. In the child they are cut off: calls have no effect on others. The kernel decides
/// what the child may do with the parent's verbs objects.
class Ucma {
 public:
  /// Errors: UcmaErrc; explain() words them, errno_of() numbers them.
  [[nodiscard]] static Result<std::unique_ptr<Ucma>> open(const UcmaConfig& config = {});
  /// Opens the transport with libraries of the caller. They must outlive it and its contexts.
  [[nodiscard]] static Result<std::unique_ptr<Ucma>> open(System& system);

  /// Retires. Precondition: all endpoints are destroyed.
  virtual ~Ucma() = default;

  /// The transport of cm::Id and the C API; its provider passes calls to the system's libibverbs.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// True in a child made by fork() from the process that opened it. The owner then abandons this
  /// object (it may leak it) and opens a new one. Cheap: no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Ends all endpoints, as the end of the process would, and the thread. Objects stay in memory
  /// and may still be used or destroyed, without effect on anyone. For exit(): a process whose
  /// threads may still be running calls this instead of destroying. Outside the critical section;
  /// not from the background thread. Calling it again has no effect.
  virtual void retire() = 0;

  /// Returns the hook for work at the end of the critical section of transport().runtime().
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;
};

}  // namespace anyrdma::transport::ucma
