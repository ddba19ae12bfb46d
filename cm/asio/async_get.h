// Defines EventChannel::async_get, which passes the next event to any completion token of
// Boost.Asio.
#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "cm/asio/channel_executor.h"
#include "cm/asio/pending.h"
#include "cm/event.h"
#include "cm/event_channel.h"

namespace anyrdma::cm {

namespace detail {

/// Returns the execution context that belongs to an executor; null if the executor does not provide
/// it.
template <class Executor>
[[nodiscard]] PendingOperations* pending_operations_of(const Executor& executor) {
  namespace execution = boost::asio::execution;
  if constexpr (boost::asio::can_query_v<Executor, execution::context_t>) {
    using Context = decltype(boost::asio::query(executor, execution::context));
    if constexpr (std::is_convertible_v<Context, boost::asio::execution_context&>) {
      boost::asio::execution_context& context = boost::asio::query(executor, execution::context);
      return &boost::asio::use_service<PendingOperations>(context);
    }
  }
  return nullptr;
}

/// One async_get that is not complete. While the operation waits, the handler's execution context
/// owns it. Afterwards the function that was posted to the executor owns it.
template <class Handler>
class AsyncGet final : public PendingOperation {
  using Executor = boost::asio::associated_executor_t<Handler, ChannelExecutor>;
  using Allocator = typename std::allocator_traits<
      boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<AsyncGet>;

 public:
  static void start(EventChannel& channel, Handler&& handler) {
    Allocator allocator(boost::asio::get_associated_allocator(handler));
    AsyncGet* const self = std::allocator_traits<Allocator>::allocate(allocator, 1);
    new (self) AsyncGet(channel, std::move(handler));
    auto slot = boost::asio::get_associated_cancellation_slot(self->handler_);
    if (slot.is_connected())
      slot.assign([self](boost::asio::cancellation_type) { self->cancel(); });
    self->keep();
    self->wait(channel);
  }

 private:
  /// The function that is posted to the handler's executor. It fetches the event and calls the
  /// handler.
  class Delivery {
   public:
    explicit Delivery(AsyncGet* operation) : operation_(operation) {}
    void operator()() { operation_.release()->deliver(); }

   private:
    struct Destroyer {
      void operator()(AsyncGet* operation) const { operation->destroy(); }
    };
    std::unique_ptr<AsyncGet, Destroyer> operation_;
  };

  AsyncGet(EventChannel& channel, Handler&& handler)
      : fallback_(channel.transport().runtime()),
        work_(boost::asio::prefer(boost::asio::get_associated_executor(handler, fallback_),
                                  boost::asio::execution::outstanding_work.tracked)),
        pending_(pending_operations_of(work_)),
        handler_(std::move(handler)) {}
  ~AsyncGet() override = default;

  void destroy() noexcept override { free_by(handler_); }
  /// Destroys the operation and frees its memory with the allocator of `handler`, which may be the
  /// operation's own handler.
  void free_by(const Handler& handler) {
    Allocator allocator(boost::asio::get_associated_allocator(handler));
    this->~AsyncGet();
    std::allocator_traits<Allocator>::deallocate(allocator, this, 1);
  }

  void keep() {
    if (pending_ != nullptr) pending_->keep(*this);
  }
  [[nodiscard]] bool let_go() { return pending_ == nullptr || pending_->let_go(*this); }

  void on_ready() noexcept override {
    namespace execution = boost::asio::execution;
    if (!let_go()) return;
    Delivery delivery(this);
    if constexpr (boost::asio::can_require_v<Work, execution::blocking_t::never_t>) {
      boost::asio::require(work_, execution::blocking.never).execute(std::move(delivery));
    } else {  // its execute() might call the handler from within
      fallback_.execute([work = work_, delivery = std::move(delivery)]() mutable {
        work.execute(std::move(delivery));
      });
    }
  }

  void deliver() {
    keep();  // it may have to wait again
    Result<Event> event = take();
    if (!event && event.error() == verbs::errno_code(EAGAIN)) return;  // perhaps gone already
    if (!let_go()) return;
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) slot.clear();
    Handler handler(std::move(handler_));
    [[maybe_unused]] const Work work(std::move(work_));  // the context stays busy
    free_by(handler);  // first: the handler may start the next operation in this memory
    if (event) {
      std::move(handler)(boost::system::error_code(), std::move(*event));
    } else {
      std::move(handler)(make_error_code(boost::asio::error::operation_aborted), Event());
    }
  }

  using Work = std::decay_t<typename boost::asio::prefer_result<
      const Executor&, boost::asio::execution::outstanding_work_t::tracked_t>::type>;

  ChannelExecutor fallback_;
  Work work_;
  PendingOperations* pending_;
  Handler handler_;
};

}  // namespace detail

/// Fetches the next event of `channel` without blocking. Completion signature:
/// void(boost::system::error_code, cm::Event). Error operation_aborted, with an empty Event: the
/// operation was cancelled through the handler's cancellation slot, or the channel was closed or
/// destroyed. Any cancellation type works, and no event is lost.
/// The event is fetched on the handler's executor (without one: see ChannelExecutor), which also
/// moves the QP of the event's id. The handler is called there, never from within this call.
/// Several operations on one channel are served in the order of the calls. Operations and blocking
/// get() share the events in turn.
/// Threads: async_get as get(). Close or destroy the channel on the handlers' executor, or when no
/// operation is pending. An execution context that is destroyed also destroys its operations.
template <class CompletionToken>
auto async_get(EventChannel& channel, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(boost::system::error_code, Event)>(
      [](auto handler, EventChannel* from) {
        detail::AsyncGet<decltype(handler)>::start(*from, std::move(handler));
      },
      token, &channel);
}

template <class CompletionToken>
auto EventChannel::async_get(CompletionToken&& token) {
  return cm::async_get(*this, std::forward<CompletionToken>(token));
}

}  // namespace anyrdma::cm
