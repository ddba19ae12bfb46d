// The life of a connection between two simulated hosts: every event of both sides, in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kRequestBytes = 56;
constexpr std::size_t kResponseBytes = 196;

TEST(Connection, LivesFromResolutionToTimewaitWithEveryFieldAsLinuxReportsIt) {
  World world(1);
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  Program client(client_host);
  Program server(server_host);
  std::uint32_t client_qpn = 0;
  std::uint32_t server_qpn = 0;
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;

  server_host.spawn("main", [&] {
    auto listener = server.listen(server_host.address(kPort));
    auto id = server.expect_request();
    {
      Pipe pipe(*id);
      server_qpn = id->qp()->qp_num;
      remote_address = pipe.address();
      remote_key = pipe.rkey();
      std::memcpy(pipe.buffer().data() + 1024, "to be read", 10);
      pipe.post_receive(1, 0, 64);
      const rdma_conn_param param = parameters("welcome", 1, 2);
      id->accept(&param).value();
      server.expect(RDMA_CM_EVENT_ESTABLISHED);
      EXPECT_EQ(pipe.wait_received().status, IBV_WC_SUCCESS);
      EXPECT_EQ(std::memcmp(pipe.buffer().data(), "ping", 4), 0);
      std::memcpy(pipe.buffer().data() + 64, "pong", 4);
      pipe.post(IBV_WR_SEND, 2, 64, 4);
      EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
      server.expect(RDMA_CM_EVENT_DISCONNECTED);
      EXPECT_EQ(std::memcmp(pipe.buffer().data() + 512, "written", 7), 0);
      id->disconnect().value();
      server.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    }
    EXPECT_TRUE(cm::Id::destroy(std::move(id)));
  });
  client_host.spawn("main", [&] {
    auto id = client.resolve(server_host.address(kPort));
    {
      Pipe pipe(*id);
      client_qpn = id->qp()->qp_num;
      const rdma_conn_param param = parameters("hello", 3, 5);
      id->connect(&param).value();
      client.expect(RDMA_CM_EVENT_ESTABLISHED);
      pipe.post_receive(1, 0, 64);
      std::memcpy(pipe.buffer().data() + 64, "ping", 4);
      pipe.post(IBV_WR_SEND, 2, 64, 4);
      EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
      EXPECT_EQ(pipe.wait_received().status, IBV_WC_SUCCESS);
      EXPECT_EQ(std::memcmp(pipe.buffer().data(), "pong", 4), 0);
      std::memcpy(pipe.buffer().data() + 128, "written", 7);
      pipe.post(IBV_WR_RDMA_WRITE, 3, 128, 7, remote_address + 512, remote_key);
      EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
      pipe.post(IBV_WR_RDMA_READ, 4, 256, 10, remote_address + 1024, remote_key);
      EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
      EXPECT_EQ(std::memcmp(pipe.buffer().data() + 256, "to be read", 10), 0);
      id->disconnect().value();
      client.expect(RDMA_CM_EVENT_DISCONNECTED);
      client.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    }
    EXPECT_TRUE(cm::Id::destroy(std::move(id)));
  });
  EXPECT_TRUE(world.run()) << world.stuck_report();

  EXPECT_THAT(types_of(client.seen),
              ElementsAre(RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
                          RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED,
                          RDMA_CM_EVENT_TIMEWAIT_EXIT));
  EXPECT_THAT(types_of(server.seen),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED,
                          RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

}  // namespace
}  // namespace anyrdma::sim::testing
