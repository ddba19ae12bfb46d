// Asynchronous programs in virtual time: callbacks, futures, coroutines, cancellation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <vector>

#include "cm/asio/async_get.h"
#include "sim/async_wait.h"
#include "sim/executor.h"
#include "sim/testing/audit.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using boost::system::error_code;
using ::testing::ElementsAre;

class Async : public ::testing::Test {
 protected:
  World world{1};
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
};

void resolve(cm::Id& id, const Address& peer) {
  const sockaddr_storage address = peer.to_sockaddr();
  id.resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();
}

TEST_F(Async, TheExecutorRunsWorkInOrderAndNeverFromWithin) {
  std::vector<int> order;
  asio::post(world.executor(), [&] {
    asio::dispatch(world.executor(), [&] { order.push_back(2); });
    order.push_back(1);
  });
  asio::post(asio::make_strand(world.executor()), [&] { order.push_back(3); });
  EXPECT_TRUE(order.empty());

  EXPECT_TRUE(world.run());

  EXPECT_THAT(order, ElementsAre(1, 3, 2));
  EXPECT_EQ(world.now(), Instant());
}

TEST_F(Async, ATimerTakesVirtualTime) {
  Instant woken{};
  async_wait(world, std::chrono::minutes(5), [&](error_code error) {
    EXPECT_FALSE(error);
    woken = world.now();
  });

  EXPECT_TRUE(world.run());

  EXPECT_EQ(woken, Instant(std::chrono::minutes(5)));
}

TEST_F(Async, ACancelledTimerEndsAtOnce) {
  asio::cancellation_signal signal;
  error_code seen;
  async_wait(world, std::chrono::minutes(5),
             asio::bind_cancellation_slot(signal.slot(), [&](error_code error) { seen = error; }));
  signal.emit(asio::cancellation_type::total);
  EXPECT_FALSE(seen);

  EXPECT_TRUE(world.run());

  EXPECT_EQ(seen, asio::error::operation_aborted);
  EXPECT_EQ(world.now(), Instant());
}

TEST_F(Async, ACallbackWithoutAnExecutorRunsInTheWorld) {
  Program client(client_host);
  auto id = client.make_id();
  resolve(*id, server_host.address(kPort));
  std::vector<rdma_cm_event_type> seen;
  client.channel().async_get([&](error_code error, const cm::Event& event) {
    EXPECT_FALSE(error);
    seen.push_back(event.type());
  });
  EXPECT_TRUE(seen.empty());

  EXPECT_TRUE(world.run());

  EXPECT_THAT(seen, ElementsAre(RDMA_CM_EVENT_ADDR_RESOLVED));
}

TEST_F(Async, AFutureIsReadyOnceTheWorldHasRun) {
  Program client(client_host);
  auto id = client.make_id();
  resolve(*id, server_host.address(kPort));
  std::future<cm::Event> future =
      client.channel().async_get(asio::bind_executor(world.executor(), asio::use_future));

  EXPECT_TRUE(world.run());

  EXPECT_EQ(future.get().type(), RDMA_CM_EVENT_ADDR_RESOLVED);
}

/// A client and a server as coroutines or as blocking fibers, doing the same.
struct Conversation {
  explicit Conversation(std::uint64_t seed) : world(seed) {}

  asio::awaitable<void> async_server(Program& server) {
    const auto listener = server.listen(server_host.address(kPort));
    std::unique_ptr<cm::Id> id;
    {
      cm::Event request = co_await server.channel().async_get(use_awaitable);
      id = request.take_request();
    }
    const Pipe pipe(*id);
    id->accept(nullptr).value();
    types.push_back((co_await server.channel().async_get(use_awaitable)).type());
    types.push_back((co_await server.channel().async_get(use_awaitable)).type());
    id->disconnect().value();
  }
  asio::awaitable<void> async_client(Program& client) {
    const auto id = client.make_id();
    resolve(*id, server_host.address(kPort));
    types.push_back((co_await client.channel().async_get(use_awaitable)).type());
    id->resolve_route(kPatience).value();
    types.push_back((co_await client.channel().async_get(use_awaitable)).type());
    const Pipe pipe(*id);
    id->connect(nullptr).value();
    types.push_back((co_await client.channel().async_get(use_awaitable)).type());
    co_await async_wait(world, std::chrono::seconds(1), use_awaitable);
    id->disconnect().value();
    types.push_back((co_await client.channel().async_get(use_awaitable)).type());
  }
  void blocking_server(Program& server) {
    const auto listener = server.listen(server_host.address(kPort));
    const auto id = server.channel().get().value().take_request();
    const Pipe pipe(*id);
    id->accept(nullptr).value();
    types.push_back(server.channel().get().value().type());
    types.push_back(server.channel().get().value().type());
    id->disconnect().value();
  }
  void blocking_client(Program& client) {
    const auto id = client.make_id();
    resolve(*id, server_host.address(kPort));
    types.push_back(client.channel().get().value().type());
    id->resolve_route(kPatience).value();
    types.push_back(client.channel().get().value().type());
    const Pipe pipe(*id);
    id->connect(nullptr).value();
    types.push_back(client.channel().get().value().type());
    EXPECT_TRUE(client_host.sleep(std::chrono::seconds(1)));
    id->disconnect().value();
    types.push_back(client.channel().get().value().type());
  }
  std::uint64_t run_async() {
    Program server(server_host);
    Program client(client_host);
    asio::co_spawn(world.executor(), async_server(server), asio::detached);
    asio::co_spawn(world.executor(), async_client(client), asio::detached);
    EXPECT_TRUE(world.run());
    return world.trace().hash();
  }
  std::uint64_t run_blocking() {
    Program server(server_host);
    Program client(client_host);
    server_host.spawn("server", [&] { blocking_server(server); });
    client_host.spawn("client", [&] { blocking_client(client); });
    EXPECT_TRUE(world.run());
    return world.trace().hash();
  }

  World world;
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  std::vector<rdma_cm_event_type> types;
};

TEST(AsyncConversation, CoroutinesConnectAndPart) {
  Conversation conversation(7);
  conversation.run_async();

  EXPECT_THAT(conversation.types,
              ElementsAre(RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
                          RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_ESTABLISHED,
                          RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DISCONNECTED));
}

TEST(AsyncConversation, SameSeedSameTraceAndTheSameAsWithBlockingCalls) {
  const std::uint64_t hash = Conversation(7).run_async();

  EXPECT_EQ(Conversation(7).run_async(), hash);
  EXPECT_EQ(Conversation(7).run_blocking(), hash);
  EXPECT_NE(Conversation(8).run_async(), hash);
}

TEST_F(Async, ACancelledCoroutineLeavesTheEventInTheChannel) {
  Program client(client_host);
  auto id = client.make_id();
  asio::cancellation_signal signal;
  bool aborted = false;
  asio::co_spawn(
      world.executor(),
      [&]() -> asio::awaitable<void> {
        try {
          (void)co_await client.channel().async_get(use_awaitable);
        } catch (const boost::system::system_error& error) {
          aborted = error.code() == asio::error::operation_aborted;
        }
      },
      asio::bind_cancellation_slot(signal.slot(), asio::detached));
  async_wait(world, std::chrono::milliseconds(1), [&](error_code) {
    signal.emit(asio::cancellation_type::terminal);
    resolve(*id, server_host.address(kPort));
  });

  EXPECT_TRUE(world.run());

  EXPECT_TRUE(aborted);
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST(AsyncEnd, TheWorldsEndDestroysCoroutinesThatWait) {
  const Unaudited ends_after_the_audit;
  const auto token = std::make_shared<int>();
  {
    World world(1);
    Host& host = world.add_host("host", {"192.0.2.1"});
    const auto get = [&](std::shared_ptr<int> /*kept*/) -> asio::awaitable<void> {
      Program program(host);
      (void)co_await program.channel().async_get(use_awaitable);
    };
    const auto wait = [&](std::shared_ptr<int> /*kept*/) -> asio::awaitable<void> {
      co_await async_wait(world, std::chrono::seconds(1), use_awaitable);
    };
    asio::co_spawn(world.executor(), get(token), asio::detached);
    asio::co_spawn(world.executor(), wait(token), asio::detached);
    asio::post(world.executor(), [token] {});
    world.run_for(std::chrono::milliseconds(1));
    asio::post(world.executor(), [token] {});
    EXPECT_EQ(token.use_count(), 4);
  }

  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(Async, AFiberAndACallbackShareAChannel) {
  Program server(server_host);
  auto listener = server.listen(server_host.address(kPort));
  std::vector<std::string> takers;
  server_host.spawn("server", [&] {
    (void)server.channel().get().has_value();
    takers.emplace_back("fiber");
  });
  server.channel().async_get(
      [&](error_code, const cm::Event&) { takers.emplace_back("callback"); });
  client_host.spawn("client", [&] {
    Program client(client_host);
    for (int i = 0; i < 2; ++i) {
      const auto id = client.resolve(server_host.address(kPort));
      const Pipe pipe(*id);
      id->connect(nullptr).value();
      client.expect(RDMA_CM_EVENT_REJECTED);
    }
  });

  EXPECT_TRUE(world.run());

  EXPECT_THAT(takers, ElementsAre("fiber", "callback"));
}

}  // namespace
}  // namespace anyrdma::sim::testing
