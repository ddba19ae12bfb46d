// The transport that uses the kernel's RDMA connection manager and devices, real ones or Soft-RoCE.
// It loads the system's librdmacm and libibverbs at run time.
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

/// The transport over the kernel, usable from open() until retire() or destruction. A process may
/// open several: each has its own event channel and endpoints, on the same devices. Threads: a
/// background thread (all signals blocked) reads the kernel's events. Posting and polling do not
/// use it. A thread inside the critical section of transport().runtime() cannot be cancelled.
/// librdmacm keeps the devices open until the process ends, so Linux removes a Soft-RoCE device
/// only then; endpoints get DEVICE_REMOVAL at once. A forked child cannot use the parent's
/// endpoints: calls on them have no effect on other processes. The kernel decides what the child
/// may do with the parent's verbs objects.
class Ucma {
 public:
  /// Opens the transport. Errors: UcmaErrc; explain() returns a sentence, errno_of() the errno
  /// value.
  [[nodiscard]] static Result<std::unique_ptr<Ucma>> open(const UcmaConfig& config = {});
  /// Opens the transport with libraries that the caller has loaded. They must outlive the transport
  /// and its contexts.
  [[nodiscard]] static Result<std::unique_ptr<Ucma>> open(System& system);

  /// Calls retire() and destroys the object. Precondition: all endpoints are destroyed.
  virtual ~Ucma() = default;

  /// Returns the transport for cm::Id and the C API. Its provider passes verbs calls to the
  /// system's libibverbs.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// True in a child made by fork() from the process that opened the transport. The child then
  /// abandons this object (it may leak it) and opens a new one. Makes no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Ends all endpoints, as the end of the process would, and the background thread. Objects stay
  /// in memory; to use or destroy them has no effect on other processes. For exit(): call it
  /// instead of the destructor if other threads may still run. Call it outside the critical section
  /// (verbs::Runtime::enter), and not on the background thread. A second call has no effect.
  virtual void retire() = 0;

  /// Returns the hook by which work is executed at the end of the critical section (Runtime::enter)
  /// of transport().runtime(), before another thread can enter it.
  [[nodiscard]] virtual realtime::Epilogue& epilogue() = 0;
};

}  // namespace anyrdma::transport::ucma
