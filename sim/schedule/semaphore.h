// Waiting in virtual time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "sim/schedule/scheduler.h"
#include "verbs/runtime.h"

namespace anyrdma::sim {

/// A semaphore whose wait() suspends the calling fiber in virtual time. If wait() is called outside
/// of fibers, it runs the world until a unit is available. wait() fails with EDEADLK if no future
/// event can post, and when the world ends. Waiters get units in FIFO order. The semaphore must
/// outlive its waiters.
class Semaphore final : public verbs::Semaphore {
 public:
  explicit Semaphore(Scheduler& scheduler) : scheduler_(scheduler) {}
  void post() override;
  bool try_wait() override;
  [[nodiscard]] verbs::Result<void> wait() override;
  int fd() const override { return -1; }
  void set_purpose(const char* purpose) override { purpose_ = purpose; }
  void set_details(const std::function<std::string()>& details) override { details_ = details; }

 private:
  Scheduler& scheduler_;
  std::size_t units_ = 0;
  FiberList waiters_;
  const char* purpose_ = "a semaphore";
  std::function<std::string()> details_;
};

}  // namespace anyrdma::sim
