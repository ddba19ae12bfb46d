// Synchronous ids between simulated hosts: blocking calls park their fiber, and time stands still
// for them.
#include <gtest/gtest.h>

#include <memory>

#include "cm/create_ep.h"
#include "sim/testing/program.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::testing {
namespace {

using verbs::testing::errno_of;

class Endpoint : public ::testing::Test {
 protected:
  static ibv_qp_init_attr queue_pair() {
    ibv_qp_init_attr attributes{};
    attributes.cap = {4, 4, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RC;
    return attributes;
  }
  static rdma_addrinfo info(sockaddr_storage& address, int flags) {
    rdma_addrinfo result{};
    result.ai_flags = flags;
    result.ai_qp_type = IBV_QPT_RC;
    result.ai_port_space = RDMA_PS_TCP;
    auto*& end = flags == RAI_PASSIVE ? result.ai_src_addr : result.ai_dst_addr;
    end = reinterpret_cast<sockaddr*>(&address);
    return result;
  }
  std::unique_ptr<cm::Id> make(Host& host, int flags) {
    sockaddr_storage address = server.address(kPort).to_sockaddr();
    ibv_qp_init_attr attributes = queue_pair();
    return cm::create_ep(host.transport(), info(address, flags), nullptr, &attributes).value();
  }

  World world{1};
  Host& client = world.add_host("client", {"192.0.2.1"});
  Host& server = world.add_host("server", {"192.0.2.2"});
};

TEST_F(Endpoint, ConnectsAndDisconnectsByBlockingCallsAlone) {
  server.spawn("server", [&] {
    std::unique_ptr<cm::Id> listener = make(server, RAI_PASSIVE);
    listener->listen(1).value();
    std::unique_ptr<cm::Id> request = listener->get_request().value();
    EXPECT_EQ(errno_of(request->accept(nullptr)), 0);
    EXPECT_EQ(request->raw()->event->event, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(request->qp()->state, IBV_QPS_RTS);
    EXPECT_EQ(errno_of(request->disconnect()), 0);
    EXPECT_EQ(errno_of(cm::destroy_ep(std::move(request))), 0);
    EXPECT_EQ(errno_of(cm::destroy_ep(std::move(listener))), 0);
  });
  client.spawn("client", [&] {
    std::unique_ptr<cm::Id> id = make(client, 0);
    EXPECT_EQ(errno_of(id->connect(nullptr)), 0);
    EXPECT_EQ(id->raw()->event->event, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(errno_of(id->disconnect()), 0);
    EXPECT_EQ(id->raw()->event->event, RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_EQ(errno_of(cm::destroy_ep(std::move(id))), 0);
  });

  EXPECT_TRUE(world.run()) << world.stuck_report();
}

TEST_F(Endpoint, WhatNobodyListensForIsRefused) {
  client.spawn("client", [&] {
    std::unique_ptr<cm::Id> id = make(client, 0);
    EXPECT_EQ(errno_of(id->connect(nullptr)), ECONNREFUSED);
    EXPECT_EQ(id->raw()->event->status, 8);
    EXPECT_EQ(errno_of(cm::destroy_ep(std::move(id))), 0);
  });

  EXPECT_TRUE(world.run()) << world.stuck_report();
}

TEST_F(Endpoint, AHostThatIsNotThereTimesOutAfterTwoSeconds) {
  client.spawn("client", [&] {
    sockaddr_storage nowhere = Address::ipv4(0xc0000263, kPort).to_sockaddr();

    EXPECT_EQ(errno_of(cm::create_ep(client.transport(), info(nowhere, 0), nullptr, nullptr)),
              ETIMEDOUT);
  });

  EXPECT_TRUE(world.run()) << world.stuck_report();
}

}  // namespace
}  // namespace anyrdma::sim::testing
