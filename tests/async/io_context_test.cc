// async_get in real time: members of a fabric in one process, events that its own thread brings,
// and an ordinary io_context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "cm/asio/async_get.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/rendezvous/testing/scratch.h"

namespace anyrdma::cm {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::use_awaitable;
using boost::system::error_code;
using ::testing::ElementsAre;
using transport::fabric::Fabric;

constexpr std::uint16_t kPort = 7471;

sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// An id with a queue pair that lives as long.
void make_qp(Id& id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  id.create_qp(nullptr, &attr).value();
}

/// One member of the fabric. The channel goes before the fabric.
struct Member {
  explicit Member(const transport::fabric::FabricConfig& config)
      : fabric(Fabric::open(config).value()),
        channel(EventChannel::create(fabric->transport()).value()) {}

  asio::awaitable<Event> next() {
    Event event = co_await channel->async_get(use_awaitable);
    seen.push_back(event.type());
    co_return event;
  }
  std::unique_ptr<Id> listen() {
    auto id = Id::create(*channel, RDMA_PS_TCP, nullptr).value();
    const sockaddr_in address = loopback();
    id->bind(reinterpret_cast<const sockaddr*>(&address)).value();
    id->listen(1).value();
    return id;
  }

  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<EventChannel> channel;
  std::vector<rdma_cm_event_type> seen;
};

asio::awaitable<void> serve(Member& self, Id& /*listener*/) {
  auto id = (co_await self.next()).take_request();
  make_qp(*id);
  id->accept(nullptr).value();
  (void)co_await self.next();
  (void)co_await self.next();
  id->disconnect().value();
  id->destroy_qp().value();
}

asio::awaitable<void> talk(Member& self) {
  auto id = Id::create(*self.channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_in address = loopback();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), 2s).value();
  (void)co_await self.next();
  id->resolve_route(2s).value();
  (void)co_await self.next();
  make_qp(*id);
  id->connect(nullptr).value();
  (void)co_await self.next();
  id->disconnect().value();
  (void)co_await self.next();
  id->destroy_qp().value();
}

class IoContext : public ::testing::Test {
 protected:
  transport::fabric::testing::Scratch scratch;
  Member server{scratch.config()};
};

TEST_F(IoContext, TwoMembersConnectAndPartInOneThread) {
  Member client(scratch.config());
  const auto listener = server.listen();
  asio::io_context io;
  asio::co_spawn(io, serve(server, *listener), asio::detached);
  asio::co_spawn(io, talk(client), asio::detached);

  io.run();  // ends when both have ended: what waits is work

  EXPECT_THAT(server.seen, ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED,
                                       RDMA_CM_EVENT_DISCONNECTED));
  EXPECT_THAT(client.seen, ElementsAre(RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
                                       RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED));
}

TEST_F(IoContext, TwoMembersConnectAndPartInAThreadEach) {
  Member client(scratch.config());
  const auto listener = server.listen();
  asio::io_context server_io;
  asio::io_context client_io;
  asio::co_spawn(server_io, serve(server, *listener), asio::detached);
  asio::co_spawn(client_io, talk(client), asio::detached);

  std::thread serving([&] { server_io.run(); });
  client_io.run();
  serving.join();

  EXPECT_EQ(server.seen.size(), 3u);
  EXPECT_EQ(client.seen.size(), 4u);
}

TEST_F(IoContext, ACancelledOneEndsAndTheContextWithIt) {
  asio::io_context io;
  asio::cancellation_signal signal;
  error_code seen;
  server.channel->async_get(asio::bind_cancellation_slot(
      signal.slot(),
      asio::bind_executor(io, [&](error_code error, const Event&) { seen = error; })));
  asio::post(io, [&] { signal.emit(asio::cancellation_type::total); });

  io.run();

  EXPECT_EQ(seen, asio::error::operation_aborted);
}

TEST_F(IoContext, ClosingTheChannelOnTheContextAbortsAllThatWait) {
  asio::io_context io;
  std::vector<error_code> seen;
  for (int i = 0; i < 3; ++i) {
    server.channel->async_get(
        asio::bind_executor(io, [&](error_code error, const Event&) { seen.push_back(error); }));
  }
  asio::post(io, [&] { server.channel->close(); });

  io.run();

  const error_code aborted = make_error_code(asio::error::operation_aborted);
  EXPECT_THAT(seen, ElementsAre(aborted, aborted, aborted));
}

TEST_F(IoContext, WhatWasPostedAndNeverRunMayOutliveChannelAndFabric) {
  const auto token = std::make_shared<int>();
  asio::io_context io;
  {
    const Member gone(scratch.config());
    gone.channel->async_get(asio::bind_executor(io, [token](error_code, const Event&) {}));
    EXPECT_EQ(token.use_count(), 2);
  }

  io.run();

  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace anyrdma::cm
