#include "cm/asio/async_get.h"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <vector>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class AsyncGetTest : public CmTest {
 protected:
  /// One more event in the channel: a request to the listener.
  void raise() { transport_.request(*listening_.endpoint); }
  /// A handler that runs on io_ and writes down what it got.
  auto noted() {
    return asio::bind_executor(io_, [this](error_code error, Event event) {
      errors_.push_back(error);
      events_.push_back(std::move(event));
    });
  }

  Placed listening_ = listener();
  asio::io_context io_;
  std::vector<error_code> errors_;
  std::vector<Event> events_;
};

TEST_F(AsyncGetTest, CallsBackOnTheHandlersExecutorAndNowhereElse) {
  channel_->async_get(noted());
  raise();
  EXPECT_TRUE(errors_.empty());

  io_.run();

  ASSERT_EQ(errors_, std::vector{error_code()});
  EXPECT_THAT(events_[0], EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
}

TEST_F(AsyncGetTest, NeverCallsBackFromWithin) {
  raise();

  asio::dispatch(io_, [&] {
    channel_->async_get(noted());
    EXPECT_TRUE(errors_.empty());
  });
  io_.run();

  EXPECT_EQ(errors_.size(), 1u);
}

TEST_F(AsyncGetTest, FetchesWhereTheHandlerRuns) {
  Placed placed = place(Place::kRouteQuery);
  channel_->async_get(noted());
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED);
  EXPECT_EQ(placed.id->raw()->route.num_paths, 0);

  io_.run();

  EXPECT_EQ(placed.id->raw()->route.num_paths, 1);
}

TEST_F(AsyncGetTest, KeepsTheContextBusyWhileItWaits) {
  channel_->async_get(noted());

  EXPECT_EQ(io_.poll(), 0u);
  EXPECT_FALSE(io_.stopped());
  raise();
  EXPECT_EQ(io_.poll(), 1u);
  EXPECT_TRUE(io_.stopped());
}

TEST_F(AsyncGetTest, GivesAFuture) {
  std::future<Event> future = channel_->async_get(asio::bind_executor(io_, asio::use_future));
  raise();
  io_.run();

  EXPECT_THAT(future.get(), EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
}

TEST_F(AsyncGetTest, ResumesACoroutine) {
  int seen = 0;
  asio::co_spawn(
      io_,
      [&]() -> asio::awaitable<void> {
        for (; seen < 2; ++seen) {
          const Event event = co_await channel_->async_get(asio::use_awaitable);
          EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
        }
      },
      asio::detached);
  io_.poll();
  raise();
  raise();
  io_.run();

  EXPECT_EQ(seen, 2);
}

TEST_F(AsyncGetTest, TakesDeferredAndTypeErasedTokens) {
  auto operation = channel_->async_get(asio::deferred);
  std::move(operation)(noted());
  channel_->async_get(asio::any_completion_handler<void(error_code, Event)>(noted()));
  raise();
  raise();
  io_.run();

  EXPECT_EQ(errors_, (std::vector{error_code(), error_code()}));
}

TEST_F(AsyncGetTest, SeveralAreServedInTheOrderOfTheCalls) {
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    channel_->async_get(asio::bind_executor(
        asio::make_strand(io_), [&, i](error_code, const Event&) { order.push_back(i); }));
  }
  for (int i = 0; i < 3; ++i) raise();
  io_.run();

  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(AsyncGetTest, WaitsOnWhenABlockingGetWasFaster) {
  channel_->async_get(noted());
  raise();
  EXPECT_TRUE(channel_->get());
  io_.poll();
  EXPECT_TRUE(errors_.empty());

  raise();
  io_.run();

  EXPECT_EQ(errors_, std::vector{error_code()});
}

TEST_F(AsyncGetTest, CancellationOfAnyTypeAbortsItAndLosesNoEvent) {
  for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal signal;
    channel_->async_get(asio::bind_cancellation_slot(signal.slot(), noted()));
    signal.emit(type);
    EXPECT_TRUE(errors_.empty());
    raise();
    io_.restart();
    io_.run();

    EXPECT_EQ(errors_, std::vector{make_error_code(asio::error::operation_aborted)});
    EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
    errors_.clear();
  }
}

TEST_F(AsyncGetTest, CancellationAfterTheEventComesTooLate) {
  asio::cancellation_signal signal;
  channel_->async_get(asio::bind_cancellation_slot(signal.slot(), noted()));
  raise();
  signal.emit(asio::cancellation_type::all);
  io_.run();

  EXPECT_EQ(errors_, std::vector{error_code()});
  signal.emit(asio::cancellation_type::all);  // nobody listens any more
}

TEST_F(AsyncGetTest, ClosingOrDestroyingTheChannelAbortsIt) {
  channel_->async_get(noted());
  channel_->close();
  channel_->async_get(noted());
  channel_.reset();
  io_.run();

  const error_code aborted = make_error_code(asio::error::operation_aborted);
  EXPECT_EQ(errors_, (std::vector{aborted, aborted}));
}

TEST_F(AsyncGetTest, TheEndOfTheContextDestroysTheHandlerUncalled) {
  const auto token = std::make_shared<int>();
  {
    asio::io_context other;
    channel_->async_get(
        asio::bind_executor(other, [token](error_code, const Event&) { FAIL() << "called"; }));
    channel_->async_get(
        asio::bind_executor(other, [token](error_code, const Event&) { FAIL() << "called"; }));
    raise();  // one is posted, one waits
    EXPECT_EQ(token.use_count(), 3);
  }

  EXPECT_EQ(token.use_count(), 1);
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
}

TEST_F(AsyncGetTest, ACoroutineThatOwnsItsChannelGoesWithItsContext) {
  const auto token = std::make_shared<int>();
  {
    asio::io_context other;
    const auto forever = [&](std::shared_ptr<int> /*kept*/) -> asio::awaitable<void> {
      const auto channel = EventChannel::create(transport_).value();
      (void)co_await channel->async_get(asio::as_tuple(asio::use_awaitable));
    };
    asio::co_spawn(other, forever(token), asio::detached);
    other.poll();
    EXPECT_EQ(token.use_count(), 2);
  }

  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace anyrdma::cm::testing
