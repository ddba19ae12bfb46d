// Runs handlers before and after fork(). Without them, a child keeps descriptors of the fabric
// open, so that the parent seems alive, and may inherit a lock that another thread holds.
#pragma once

#include <mutex>

namespace anyrdma::transport::realtime {

/// The interface of objects that must be in a consistent state when the process forks.
class ForkGuarded {
 public:
  virtual ~ForkGuarded() = default;
  virtual void before_fork() = 0;
  virtual void after_fork_in_parent() = 0;
  virtual void after_fork_in_child() = 0;
};

/// Returns a lock during which no thread can fork. Hold the lock while descriptors exist that
/// belong to no ForkGuarded object yet.
[[nodiscard]] std::unique_lock<std::mutex> hold_off_forks();

/// Registers `guarded` until forget(). Its functions are called before and after each fork of this
/// process. Precondition: the caller has the lock of hold_off_forks().
void remember(ForkGuarded& guarded);
void forget(ForkGuarded& guarded);

}  // namespace anyrdma::transport::realtime
