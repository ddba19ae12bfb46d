// Boost.Asio in the simulator: an executor that runs functions as tasks at the current virtual
// time.
#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <memory>
#include <utility>

#include "sim/schedule/job_queue.h"
#include "sim/schedule/scheduler.h"

namespace anyrdma::sim {

/// A wait for virtual time to pass; see async_wait.h.
class PendingWait : public Task,
                    public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// Frees it without calling its handler.
  virtual void destroy() noexcept = 0;

 protected:
  ~PendingWait() override = default;
};

/// The execution context of a world for Asio. Its destructor destroys all operations that have not
/// completed, and the coroutines that wait for them.
class ExecutionContext final : public boost::asio::execution_context {
 public:
  ExecutionContext(Scheduler& scheduler, JobQueue& jobs) : scheduler_(scheduler), jobs_(jobs) {}
  ~ExecutionContext() { clear(); }

  [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] JobQueue& jobs() const { return jobs_; }
  void keep(PendingWait& wait) { waits_.push_back(wait); }

 private:
  void clear() {
    shutdown();
    while (!waits_.empty()) waits_.front().destroy();
    jobs_.clear();
    destroy();
  }

  Scheduler& scheduler_;
  JobQueue& jobs_;
  boost::intrusive::list<PendingWait, boost::intrusive::constant_time_size<false>> waits_;
};

/// An Asio executor that runs functions in a world, from World::executor(). Functions run one after
/// the other in the order of execute(), outside of all fibers, before time advances, and never
/// inside execute(). World::run throws the exception of a function. Valid as long as the world; use
/// it in the world's thread.
class Executor {
 public:
  explicit Executor(ExecutionContext& context) : context_(&context) {}

  template <class Function>
  void execute(Function function) const {
    context_->jobs().push(std::make_unique<Call<Function>>(std::move(function)));
  }
  [[nodiscard]] ExecutionContext& query(
      boost::asio::execution::context_t /*property*/) const noexcept {
    return *context_;
  }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t /*property*/) noexcept {
    return boost::asio::execution::blocking.never;
  }
  bool operator==(const Executor&) const = default;

 private:
  template <class Function>
  class Call final : public verbs::Job {
   public:
    explicit Call(Function&& function) : function_(std::move(function)) {}
    void run() override { function_(); }

   private:
    Function function_;
  };

  ExecutionContext* context_;
};

}  // namespace anyrdma::sim
