// Devices that go and addresses that change: who is told, and who is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A server with two devices, and a connection to each.
class TwoDevices : public ::testing::Test {
 protected:
  struct Connection {
    std::unique_ptr<cm::Id> active;
    std::unique_ptr<cm::Id> passive;
  };

  Connection connect(const Address& to) {
    Connection connection;
    connection.active = client.resolve(to);
    rdma_conn_param param = parameters("");
    param.qp_num = next_qpn++;  // no QP: CONNECT_RESPONSE, then establish
    connection.active->connect(&param).value();
    connection.passive = server.expect_request();
    connection.passive->accept(&param).value();
    client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
    connection.active->establish().value();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    return connection;
  }
  void inject(std::string_view plan) {
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  }
  /// What comes from now on for a while: (id, type).
  using Told = std::vector<std::pair<std::uint64_t, rdma_cm_event_type>>;
  static Told told(Program& program) {
    program.seen.clear();
    program.take_all();
    Told all;
    for (const Seen& seen : program.seen) all.emplace_back(seen.id, seen.type);
    return all;
  }

  std::uint32_t next_qpn = 0x100;  // one twice would be a stale connection
  World world{1};
  Host& client_host = world.add_host(
      "client",
      HostOptions{.interfaces = {{.addresses = {"10.0.0.1"}}, {.addresses = {"10.0.1.1"}}}});
  Host& server_host = world.add_host(
      "server",
      HostOptions{.interfaces = {{.addresses = {"10.0.0.2"}}, {.addresses = {"10.0.1.2"}}}});
  Program client{client_host};
  Program server{server_host};
  std::unique_ptr<cm::Id> wildcard = server.listen(Address::ipv4(0, kPort));
  std::unique_ptr<cm::Id> specific = server.listen(server_host.address(kPort + 1));
  std::unique_ptr<cm::Id> unbound = server.make_id();
  Connection first = connect(server_host.address(kPort, 0));
  Connection second = connect(server_host.address(kPort, 1));
};

TEST_F(TwoDevices, RemovalReachesTheIdsOnTheDeviceAndNoOthers) {
  inject("at 1s: remove server anyrdma0");
  world.run_for(std::chrono::seconds(2));

  EXPECT_THAT(told(server),
              ElementsAre(std::pair(specific->number(), RDMA_CM_EVENT_DEVICE_REMOVAL),
                          std::pair(first.passive->number(), RDMA_CM_EVENT_DEVICE_REMOVAL)));
  // The kernel's farewell: one DREQ for the established connection.
  EXPECT_THAT(told(client),
              ElementsAre(std::pair(first.active->number(), RDMA_CM_EVENT_DISCONNECTED)));
  EXPECT_EQ(first.passive->disconnect().error().value(), ENXIO);
  EXPECT_TRUE(world.faults().unfired().empty());
}

TEST_F(TwoDevices, TheWildcardListenerGoesOnWithTheDeviceThatIsLeft) {
  inject("at 1s: remove server anyrdma0");
  world.run_for(std::chrono::seconds(2));
  (void)told(server);
  (void)told(client);

  const Connection third = connect(server_host.address(kPort, 1));

  EXPECT_EQ(third.passive->state(), "RDMA_CM_CONNECT");
}

TEST_F(TwoDevices, RemovalCanWaitForAMessage) {
  inject("on client->server DREQ 1: remove client anyrdma1");
  second.active->disconnect().value();
  world.run_for(std::chrono::milliseconds(1));

  EXPECT_THAT(told(client),
              ElementsAre(std::pair(second.active->number(), RDMA_CM_EVENT_DEVICE_REMOVAL)));
}

TEST_F(TwoDevices, AddressChangeReachesTheIdsOnTheInterfaceAndTheActiveIdsOfItsPeers) {
  inject("at 1s: fail-over server eth1");
  world.run_for(std::chrono::seconds(2));

  EXPECT_THAT(told(server),
              ElementsAre(std::pair(second.passive->number(), RDMA_CM_EVENT_ADDR_CHANGE)));
  EXPECT_THAT(told(client),
              ElementsAre(std::pair(second.active->number(), RDMA_CM_EVENT_UNREACHABLE)));
  EXPECT_EQ(client.seen.back().status, -ETIMEDOUT);
  EXPECT_EQ(second.active->state(), "RDMA_CM_CONNECT");  // nothing is torn down
}

TEST_F(TwoDevices, ThePassiveSideHearsNothingOfItsPeersNewAddress) {
  inject("at 1s: fail-over client eth1");
  world.run_for(std::chrono::seconds(2));

  EXPECT_THAT(told(client),
              ElementsAre(std::pair(second.active->number(), RDMA_CM_EVENT_ADDR_CHANGE)));
  EXPECT_THAT(told(server), IsEmpty());
}

}  // namespace
}  // namespace anyrdma::sim::testing
