// The executor that async_get uses for a handler without an executor of its own.
#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/system_executor.hpp>
#include <memory>
#include <utility>

#include "verbs/runtime.h"

namespace anyrdma::cm {

/// Executes functions through the runtime, if the runtime supports that. The simulator does: it
/// runs them as a task at the current virtual time. Other runtimes do not; then Asio's system
/// executor runs them. Never runs a function from within execute().
class ChannelExecutor {
 public:
  explicit ChannelExecutor(verbs::Runtime& runtime) : runtime_(&runtime) {}

  template <class Function>
  void execute(Function function) const {
    std::unique_ptr<verbs::Job> job = std::make_unique<Call<Function>>(std::move(function));
    if (runtime_->run_later(job)) return;
    constexpr auto kNever = boost::asio::execution::blocking.never;
    boost::asio::require(boost::asio::system_executor(), kNever).execute([kept = std::move(job)] {
      kept->run();
    });
  }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t /*property*/) noexcept {
    return boost::asio::execution::blocking.never;
  }
  bool operator==(const ChannelExecutor&) const = default;

 private:
  template <class Function>
  class Call final : public verbs::Job {
   public:
    explicit Call(Function&& function) : function_(std::move(function)) {}
    void run() override { function_(); }

   private:
    Function function_;
  };

  verbs::Runtime* runtime_;
};

}  // namespace anyrdma::cm
