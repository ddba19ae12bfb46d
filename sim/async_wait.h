// A timer on virtual time, for Asio's completion tokens.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "sim/executor.h"
#include "sim/world.h"

namespace anyrdma::sim {

namespace detail {

template <class Handler>
class AsyncWait final : public PendingWait {
 public:
  static void start(Executor executor, Duration duration, Handler&& handler) {
    ExecutionContext& context = executor.query(boost::asio::execution::context);
    auto* const self = new AsyncWait(executor, std::move(handler));
    auto slot = boost::asio::get_associated_cancellation_slot(self->handler_);
    if (slot.is_connected())
      slot.assign([self](boost::asio::cancellation_type) { self->cancel(); });
    context.keep(*self);
    context.scheduler().at(*self, context.scheduler().now() + duration);
  }

 private:
  AsyncWait(Executor executor, Handler&& handler)
      : executor_(executor), handler_(std::move(handler)) {}

  [[nodiscard]] Scheduler& scheduler() const {
    return executor_.query(boost::asio::execution::context).scheduler();
  }
  void destroy() noexcept override {
    scheduler().cancel(*this);
    delete this;
  }
  void run() override { complete({}); }
  void cancel() {
    scheduler().cancel(*this);
    complete(make_error_code(boost::asio::error::operation_aborted));
  }
  void complete(boost::system::error_code error) {
    const std::unique_ptr<AsyncWait> self(this);
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) slot.clear();
    const auto target = boost::asio::get_associated_executor(handler_, executor_);
    boost::asio::post(
        target, [handler = std::move(handler_), error]() mutable { std::move(handler)(error); });
  }

  Executor executor_;
  Handler handler_;
};

}  // namespace detail

/// Completes when `duration` of virtual time has passed. Completion signature:
/// void(boost::system::error_code). operation_aborted: cancelled through the handler's slot.
template <class CompletionToken>
auto async_wait(World& world, Duration duration, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(boost::system::error_code)>(
      [](auto handler, Executor executor, Duration after) {
        detail::AsyncWait<decltype(handler)>::start(executor, after, std::move(handler));
      },
      token, world.executor(), duration);
}

}  // namespace anyrdma::sim
