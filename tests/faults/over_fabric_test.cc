// Faults in real time: what a call, an event or work has pulled is done when the program goes on.
// Each test asks right after the call that pulled it, so that a fault which is done beside it, by
// another thread, would be late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/open/real.h"

namespace anyrdma::transport {
namespace {

using namespace std::chrono_literals;

class OverFabric : public ::testing::Test {
 protected:
  static std::unique_ptr<Opened> join(const std::string& plan) {
    OpenOptions options;
    options.fabric.directory = ::testing::TempDir();
    options.fabric.name = "faults-" + std::to_string(::getpid());
    options.faults.plan = fault::FaultPlan::parse(plan).value();
    return open_real("fabric", options).value();
  }

  /// The server has the faults, and both have got as far as the server's ESTABLISHED.
  void connect(const std::string& plan) {
    listen(plan);
    client_ = join("");
    client_channel_ = cm::EventChannel::create(client_->transport()).value();
    caller_ = cm::Id::create(*client_channel_, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage peer = address();
    caller_->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 5s).value();
    EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_ADDR_RESOLVED);
    caller_->resolve_route(5s).value();
    EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_ROUTE_RESOLVED);
    rdma_conn_param parameters{};
    parameters.responder_resources = 1;
    parameters.initiator_depth = 1;
    parameters.qp_num = 1;
    caller_->connect(&parameters).value();
    {
      cm::Event request = channel_->get().value();
      EXPECT_EQ(request.type(), RDMA_CM_EVENT_CONNECT_REQUEST);
      answerer_ = request.take_request();
    }
    answerer_->accept(&parameters).value();
    EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_CONNECT_RESPONSE);
    caller_->establish().value();
    established_ = channel_->get().value();
    EXPECT_EQ(established_->type(), RDMA_CM_EVENT_ESTABLISHED);
  }
  void listen(const std::string& plan) {
    server_ = join(plan);
    channel_ = cm::EventChannel::create(server_->transport()).value();
    listener_ = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage here = address(0);
    listener_->bind(reinterpret_cast<const sockaddr*>(&here)).value();
    listener_->listen(4).value();
  }
  [[nodiscard]] sockaddr_storage address() const { return address(listener_->src_port()); }
  [[nodiscard]] static sockaddr_storage address(__be16 port) {
    sockaddr_storage storage{};
    auto& here = reinterpret_cast<sockaddr_in&>(storage);
    here.sin_family = AF_INET;
    here.sin_port = port;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return storage;
  }
  [[nodiscard]] bool has_device() const {
    const verbs::CriticalSection section(server_->transport().runtime());
    return !server_->transport().devices().empty();
  }
  [[nodiscard]] rdma_cm_event_type next() { return channel_->try_get().value().type(); }
  [[nodiscard]] fault::FaultStatus status() { return server_->faults().at(0); }

  // In the order in which each needs those before it.
  std::unique_ptr<Opened> server_;
  std::unique_ptr<Opened> client_;
  std::unique_ptr<cm::EventChannel> channel_;
  std::unique_ptr<cm::EventChannel> client_channel_;
  std::unique_ptr<cm::Id> listener_;
  std::unique_ptr<cm::Id> caller_;
  std::unique_ptr<cm::Id> answerer_;
  std::optional<cm::Event> established_;
};

TEST_F(OverFabric, WhatAFetchedEventPullsIsDoneWhenTheProgramHasIt) {
  connect("on server fetched ESTABLISHED 1: remove server anyrdma0");

  EXPECT_FALSE(has_device());
  EXPECT_EQ(next(), RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(OverFabric, WhatAQueuedEventPullsIsDoneBeforeTheProgramCanTakeIt) {
  connect("on server queued ESTABLISHED 1: remove server anyrdma0");

  EXPECT_FALSE(has_device());
  EXPECT_EQ(next(), RDMA_CM_EVENT_DEVICE_REMOVAL);
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(OverFabric, WhatACallPullsIsDoneWhenItReturns) {
  listen("on server call listen 1: remove server anyrdma0");

  EXPECT_FALSE(has_device());
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(OverFabric, WhatACallOfVerbsPullsIsDoneWhenItReturns) {
  listen("on server call alloc_pd 1: port-down server anyrdma0");
  ibv_device* const device = server_->transport().devices().front();
  verbs::Provider& provider = server_->transport().provider_of(device);
  ibv_context* const context = provider.open_device(device).value();

  ibv_pd* const domain = provider.alloc_pd(context).value();

  ibv_port_attr port{};
  provider.query_port(context, 1, &port).value();
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  provider.dealloc_pd(domain).value();
  provider.close_device(context).value();
}

TEST_F(OverFabric, ADeviceRaisesAnEventAndGoesOn) {
  connect("on server fetched ESTABLISHED 1: device-event server anyrdma0 GID_CHANGE");
  ibv_context* const context = answerer_->raw()->verbs;
  verbs::Provider& provider = verbs::provider_of(context);

  const ibv_async_event event = provider.get_async_event(context).value();
  provider.ack_async_event(event);

  EXPECT_EQ(event.event_type, IBV_EVENT_GID_CHANGE);
  EXPECT_TRUE(has_device());
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(OverFabric, ARequestThatIsTakenForStaleIsRejectedSo) {
  listen("on server request 1: stale");
  client_ = join("");
  client_channel_ = cm::EventChannel::create(client_->transport()).value();
  caller_ = cm::Id::create(*client_channel_, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage peer = address();
  caller_->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 5s).value();
  EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_ADDR_RESOLVED);
  caller_->resolve_route(5s).value();
  EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_ROUTE_RESOLVED);
  rdma_conn_param parameters{};
  parameters.qp_num = 1;
  caller_->connect(&parameters).value();

  const cm::Event answer = client_channel_->get().value();

  EXPECT_EQ(answer.type(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(answer.status(), 10);
}

TEST_F(OverFabric, ThePeerHasItsFarewellAlthoughTheDeviceIsGoneAtOnce) {
  connect("on server fetched ESTABLISHED 1: remove server anyrdma0");

  EXPECT_EQ(client_channel_->get()->type(), RDMA_CM_EVENT_DISCONNECTED);
}

TEST_F(OverFabric, WhoHasRetiredIsSpared) {
  listen("on server call create_event_channel 2: remove server anyrdma0");

  server_->retire();
  (void)cm::EventChannel::create(server_->transport()).has_value();

  EXPECT_EQ(status().armed, 1u);
  EXPECT_EQ(status().fired, 0u);
}

// For ThreadSanitizer above all: whoever pulls, and the thread of the timed ones.
TEST_F(OverFabric, ManyThreadsPullAtOnce) {
  listen(
      "on server call create_id all: fail-over server anyrdma0\n"
      "on server queued ADDR_CHANGE all: port-down server anyrdma0\n"
      "on server queued ADDR_CHANGE all: port-up server anyrdma0\n"
      "at 1ms: port-down server anyrdma0\n");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 50; ++n) {
        const auto id = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
        while (channel_->try_get()) continue;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(server_->faults().at(0).fired, 151u);  // the listener, too
  EXPECT_EQ(server_->faults().at(1).fired, server_->faults().at(1).armed);
}

}  // namespace
}  // namespace anyrdma::transport
