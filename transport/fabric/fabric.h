// Real time: one process's share in a host that all processes of one user and one fabric name form
// on a machine. The host has one device, anyrdma0, and the machine's own addresses; processes
// exchange RoCE packets over Unix sockets. No daemon: the first process makes the rendezvous file,
// the last one removes it.
#pragma once

#include <memory>
#include <string>

#include "transport/fabric/config.h"
#include "transport/fabric/error.h"
#include "transport/transport.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

using verbs::Result;

/// Joined from open() until retire() or destruction. A process may join several fabrics, or one
/// fabric several times: each is a member of its own with objects of its own.
/// Threads: a background thread (all signals blocked) takes in packets and runs timers, so that
/// remote reads and writes progress while the application sleeps; it costs nothing when idle. The
/// critical section of transport().runtime() disables thread cancellation while it is held.
/// fork: a child cannot use the parent's fabric nor objects made with it (as with the kernel's
/// uverbs). In the child the parent's fabric is cut off: calls do no harm and reach nobody.
class Fabric {
 public:
  /// Joins, and starts the background thread. Errors: FabricErrc; explain() words them, errno_of()
  /// numbers them.
  [[nodiscard]] static Result<std::unique_ptr<Fabric>> open(const FabricConfig& config = {});

  /// Retires. Precondition: all endpoints and verbs objects made with it are destroyed.
  virtual ~Fabric() = default;

  /// What cm::Id and the C API stand on; its provider is the software HCA.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// True in a child made by fork() from the process that opened it. The owner then abandons this
  /// object (it may leak it) and opens a new one. Cheap: no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Leaves the fabric: sends what still waits (bounded: at most a fraction of a second, and only
  /// while peers read), stops the thread, gives the slot and its ports back and removes the
  /// rendezvous file if nobody else is there. Peers see our connections end. Objects stay in memory
  /// and may still be used or destroyed, without effect on anyone. For exit(): a process whose
  /// threads may still be running calls this instead of destroying. Outside the critical section;
  /// not from the background thread. Calling it again has no effect.
  virtual void retire() = 0;
};

}  // namespace anyrdma::transport::fabric
