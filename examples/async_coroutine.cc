// Coroutines in the simulator: blocking code to read, no fiber and no thread to run it, and a timer
// that takes virtual time.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <memory>
#include <utility>

#include "cm/asio/async_get.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/async_wait.h"
#include "sim/executor.h"
#include "sim/world.h"

namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace anyrdma;
using namespace std::chrono_literals;

constexpr std::uint16_t kPort = 7471;
const rdma_conn_param kParameters{};

asio::awaitable<void> serve(sim::Host& host, bool& parted) {
  const auto channel = cm::EventChannel::create(host.transport()).value();
  const auto listener = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage local = host.address(kPort).to_sockaddr();
  listener->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  listener->listen(1).value();

  const auto id = (co_await channel->async_get(use_awaitable)).take_request();
  id->accept(&kParameters).value();
  (void)co_await channel->async_get(use_awaitable);  // ESTABLISHED
  const cm::Event last = co_await channel->async_get(use_awaitable);
  parted = last.type() == RDMA_CM_EVENT_DISCONNECTED;
  id->disconnect().value();
}

asio::awaitable<void> talk(sim::World& world, sim::Host& host, sim::Address server) {
  const auto channel = cm::EventChannel::create(host.transport()).value();
  const auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage remote = server.to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&remote), 2s).value();
  (void)co_await channel->async_get(use_awaitable);  // ADDR_RESOLVED
  id->resolve_route(2s).value();
  (void)co_await channel->async_get(use_awaitable);  // ROUTE_RESOLVED
  id->connect(&kParameters).value();
  (void)co_await channel->async_get(use_awaitable);  // CONNECT_RESPONSE: there is no QP
  id->establish().value();

  co_await sim::async_wait(world, 24h, use_awaitable);
  id->disconnect().value();
  (void)co_await channel->async_get(use_awaitable);  // DISCONNECTED
}

}  // namespace

int main() {
  sim::World world(1);
  sim::Host& server = world.add_host("server", {"192.0.2.1"});
  sim::Host& client = world.add_host("client", {"192.0.2.2"});
  bool parted = false;
  asio::co_spawn(world.executor(), serve(server, parted), asio::detached);
  asio::co_spawn(world.executor(), talk(world, client, server.address(kPort)), asio::detached);

  const bool rested = world.run().has_value();

  std::printf("after %lld hours: %s\n", static_cast<long long>(world.now().time_since_epoch() / 1h),
              parted ? "parted" : "not parted");
  return rested && parted ? 0 : 1;
}
