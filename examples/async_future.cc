// Futures in real time: two members of a fabric in one process. An io_context with a thread of its
// own fetches the events; whoever wants one waits for its future.
#include <arpa/inet.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "cm/asio/async_get.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/event_name.h"
#include "transport/fabric/fabric.h"

namespace {

namespace asio = boost::asio;
using namespace anyrdma;
using namespace std::chrono_literals;
using transport::fabric::Fabric;

constexpr std::uint16_t kPort = 7471;
const rdma_conn_param kParameters{};

class Events {
 public:
  Events() : runner_([this] { io_.run(); }) {}
  ~Events() {
    work_.reset();
    runner_.join();
  }
  cm::Event next(cm::EventChannel& channel) {
    std::future<cm::Event> future = channel.async_get(asio::bind_executor(io_, asio::use_future));
    cm::Event event = future.get();
    std::printf("%s\n", transport::event_name(event.type()));
    return event;
  }

 private:
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  std::thread runner_;
};

}  // namespace

int main() {
  const std::string name = "async-future-" + std::to_string(::getpid());
  const auto server_side = Fabric::open({.name = name}).value();
  const auto client_side = Fabric::open({.name = name}).value();
  const auto server = cm::EventChannel::create(server_side->transport()).value();
  const auto client = cm::EventChannel::create(client_side->transport()).value();
  Events events;

  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const raw = reinterpret_cast<const sockaddr*>(&address);
  const auto listener = cm::Id::create(*server, RDMA_PS_TCP, nullptr).value();
  listener->bind(raw).value();
  listener->listen(1).value();

  const auto active = cm::Id::create(*client, RDMA_PS_TCP, nullptr).value();
  active->resolve_addr(nullptr, raw, 2s).value();
  (void)events.next(*client);  // ADDR_RESOLVED
  active->resolve_route(2s).value();
  (void)events.next(*client);  // ROUTE_RESOLVED
  active->connect(&kParameters).value();
  const auto passive = events.next(*server).take_request();
  passive->accept(&kParameters).value();
  (void)events.next(*client);  // CONNECT_RESPONSE: there is no QP
  active->establish().value();
  (void)events.next(*server);  // ESTABLISHED

  active->disconnect().value();
  return events.next(*server).type() == RDMA_CM_EVENT_DISCONNECTED ? 0 : 1;
}
