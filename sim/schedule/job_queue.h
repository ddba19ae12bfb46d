// A queue of jobs for the simulator. Each job runs as a task at the virtual time at which it was
// added, and the jobs run in the order of addition.
#pragma once

#include <deque>
#include <memory>

#include "sim/schedule/scheduler.h"
#include "verbs/runtime.h"

namespace anyrdma::sim {

class JobQueue final : private Task {
 public:
  explicit JobQueue(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~JobQueue() override { clear(); }

  void push(std::unique_ptr<verbs::Job> job);
  /// Destroys all waiting jobs, and the jobs that their destructors add.
  void clear();

 private:
  void run() override;
  [[nodiscard]] std::string what() override { return "work that was put off is done"; }

  Scheduler& scheduler_;
  std::deque<std::unique_ptr<verbs::Job>> jobs_;
};

}  // namespace anyrdma::sim
