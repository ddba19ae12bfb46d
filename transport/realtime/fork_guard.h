// fork() against what a joined process shares with its fabric: descriptors that a child would keep
// open (so that the parent would seem to live on), and a lock that a thread may just hold.
#pragma once

#include <mutex>

namespace anyrdma::transport::realtime {

/// An object that must be in a consistent state when the process forks.
class ForkGuarded {
 public:
  virtual ~ForkGuarded() = default;
  virtual void before_fork() = 0;
  virtual void after_fork_in_parent() = 0;
  virtual void after_fork_in_child() = 0;
};

/// No thread forks while one exists: for the time in which descriptors exist that no ForkGuarded
/// knows yet.
[[nodiscard]] std::unique_lock<std::mutex> hold_off_forks();

/// Has `guarded` called around every fork of this process until forget(). The caller holds off
/// forks.
void remember(ForkGuarded& guarded);
void forget(ForkGuarded& guarded);

}  // namespace anyrdma::transport::realtime
