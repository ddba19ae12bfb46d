// Hosts with a device on each of two rails, as libraries with several rails have them: a rail that
// passes nothing takes nothing but its own connections along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sim/testing/program.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Rails : public ::testing::Test {
 protected:
  struct Rail {
    std::unique_ptr<cm::Id> active;
    std::unique_ptr<cm::Id> passive;
    std::unique_ptr<Pipe> near;
    std::unique_ptr<Pipe> far;
  };

  Rail connect(std::size_t interface) {
    Rail rail;
    rail.active = client.resolve(server_host.address(kPort, interface));
    rail.near = std::make_unique<Pipe>(*rail.active);
    rdma_conn_param param = parameters("");
    param.retry_count = 2;
    rail.active->connect(&param).value();
    rail.passive = server.expect_request();
    rail.far = std::make_unique<Pipe>(*rail.passive);
    rail.far->post_receive(1, 0, 64);
    rail.passive->accept(&param).value();
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    return rail;
  }
  static ibv_wc_status send(Rail& rail) {
    rail.near->post(IBV_WR_SEND, 7, 0, 8);
    return rail.near->wait_sent().status;
  }
  void happen(const std::string& plan) {
    const std::string now = fault::word_of(world.now().time_since_epoch());
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse("at " + now + ": " + plan).value()));
    world.run_for(1us);
  }
  /// How the address of the server on a rail resolves.
  rdma_cm_event_type resolve(std::size_t interface) {
    const auto id = client.make_id();
    const sockaddr_storage to = server_host.address(kPort, interface).to_sockaddr();
    id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();
    return client.next()->type();
  }

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
};

TEST_F(Rails, EachHasADeviceOfItsOwn) {
  const Rail first = connect(0);
  const Rail second = connect(1);

  EXPECT_STREQ(first.active->raw()->verbs->device->name, "anyrdma0");
  EXPECT_STREQ(second.active->raw()->verbs->device->name, "anyrdma1");
  EXPECT_STREQ(second.passive->raw()->verbs->device->name, "anyrdma1");
}

TEST_F(Rails, AKeyOfOneDeviceGivesNoAccessOnTheOther) {
  Rail first = connect(0);
  Rail second = connect(1);

  second.near->post(IBV_WR_RDMA_WRITE, 7, 0, 8, second.far->address(), first.far->rkey());
  EXPECT_EQ(second.near->wait_sent().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_NE(first.near->rkey(), second.near->rkey());
}

TEST_F(Rails, AKeyOfOneHostGivesNoAccessOnAnother) {
  Rail rail = connect(0);

  rail.near->post(IBV_WR_RDMA_WRITE, 7, 0, 8, rail.far->address(), rail.near->rkey());
  EXPECT_EQ(rail.near->wait_sent().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Rails, AQueuePairNumberIsThatOfOneDevice) {
  const Rail first = connect(0);
  const Rail second = connect(1);

  EXPECT_NE(first.active->qp()->qp_num, second.active->qp()->qp_num);
}

TEST_F(Rails, ACutRailEndsItsOwnMessagesAndNoOthers) {
  Rail first = connect(0);
  Rail second = connect(1);
  happen("cut-rail client eth0");

  EXPECT_EQ(send(first), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(send(second), IBV_WC_SUCCESS);
  EXPECT_GT(world.faults().status()[0].observed, 0u);
}

TEST_F(Rails, WhoeverLosesARailResolvesOverTheOther) {
  happen("cut-rail server eth0");

  EXPECT_EQ(resolve(0), RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(client.seen.back().status, -ETIMEDOUT);
  EXPECT_GT(world.faults().status()[0].observed, 0u);
  Rail other = connect(1);
  EXPECT_EQ(send(other), IBV_WC_SUCCESS);
}

TEST_F(Rails, ANeighbourThatIsKnownStillResolvesAndNobodyAnswersTheRequest) {
  EXPECT_EQ(resolve(0), RDMA_CM_EVENT_ADDR_RESOLVED);
  happen("cut-rail server eth0");
  const auto id = client.resolve(server_host.address(kPort, 0));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x100;
  id->connect(&param).value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
}

TEST_F(Rails, APacketIsLostOnTheRailThatAFaultNames) {
  Rail first = connect(0);
  Rail second = connect(1);
  EXPECT_TRUE(world.faults().inject(
      FaultPlan::parse("on client/eth1->server/eth1 packet all: lose").value()));

  EXPECT_EQ(send(first), IBV_WC_SUCCESS);
  EXPECT_EQ(send(second), IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Rails, ASlowRailDelaysItsOwnPackets) {
  Rail first = connect(0);
  Rail second = connect(1);
  happen("slow-rail server eth1 1ms for 1s");

  const Instant begun = world.now();
  EXPECT_EQ(send(first), IBV_WC_SUCCESS);
  EXPECT_LT(world.now() - begun, 1ms);
  const Instant middle = world.now();
  EXPECT_EQ(send(second), IBV_WC_SUCCESS);
  EXPECT_GE(world.now() - middle, 2ms);
}

TEST_F(Rails, AMendedRailCarriesWhatComesThen) {
  happen("cut-rail client eth0");
  EXPECT_EQ(resolve(0), RDMA_CM_EVENT_ADDR_ERROR);
  happen("mend-rail client eth0");

  Rail first = connect(0);
  EXPECT_EQ(send(first), IBV_WC_SUCCESS);
}

TEST_F(Rails, AHostAlwaysReachesItself) {
  happen("cut-rail server eth0");

  const auto id = server.resolve(server_host.address(kPort, 0));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x100;
  id->connect(&param).value();

  EXPECT_NE(server.expect_request(), nullptr);
}

TEST_F(Rails, APortWithoutItsLinkIsToldAndTheOtherRailGoesOn) {
  Rail first = connect(0);
  Rail second = connect(1);
  happen("port-down client anyrdma0");

  EXPECT_EQ(client_host.hca(0).port_state(), IBV_PORT_DOWN);
  EXPECT_EQ(client_host.hca(1).port_state(), IBV_PORT_ACTIVE);
  EXPECT_EQ(send(first), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(send(second), IBV_WC_SUCCESS);
}

TEST_F(Rails, OfTwoInterfacesInOneNetworkTheSourceChooses) {
  Host& both = world.add_host("both", HostOptions{.interfaces = {{.addresses = {"10.0.0.5"}},
                                                                 {.addresses = {"10.0.0.6"}}}});
  Program program{both};
  const auto id = program.make_id();
  const sockaddr_storage from = both.address(0, 1).to_sockaddr();
  const sockaddr_storage to = server_host.address(kPort, 0).to_sockaddr();
  id->resolve_addr(reinterpret_cast<const sockaddr*>(&from), reinterpret_cast<const sockaddr*>(&to),
                   kPatience)
      .value();

  EXPECT_EQ(program.next()->type(), RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_STREQ(id->raw()->verbs->device->name, "anyrdma1");
}

TEST_F(Rails, APlanNamesAnInterfaceThatIsThere) {
  const auto refused =
      world.faults().inject(FaultPlan::parse("at 1s: cut-rail client eth7\n").value());

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().reason, HasSubstr("no interface 'eth7' on that host"));
}

/// Hosts whose device has two ports, one on each rail.
class PortsOfADevice : public ::testing::Test {
 protected:
  static HostOptions two_ports(const std::string& last,
                               std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET) {
    const verbs::soft::HcaConfig device{
        .name = "mlx5_0", .link_layer = link_layer, .path_migration = true};
    return {.interfaces = {{.addresses = {"10.0.0." + last}, .device = device},
                           {.addresses = {"10.0.1." + last}, .device = device, .port = 2}}};
  }
  void happen(const std::string& plan) {
    const std::string now = fault::word_of(world.now().time_since_epoch());
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse("at " + now + ": " + plan).value()));
    world.run_for(1us);
  }
  static std::uint16_t lid(Host& host, std::uint8_t port) {
    ibv_context* const context = host.hca().open_device(host.hca().device()).value();
    ibv_port_attr attr{};
    host.hca().query_port(context, port, &attr).value();
    host.hca().close_device(context).value();
    return attr.lid;
  }

  World world{1};
  Host& client_host = world.add_host("client", two_ports("1"));
  Host& server_host = world.add_host("server", two_ports("2"));
  Program client{client_host};
  Program server{server_host};
  std::unique_ptr<cm::Id> wildcard = server.listen(Address::ipv4(0, kPort));
};

TEST_F(PortsOfADevice, AnIdHasThePortThatItsAddressLeadsTo) {
  const auto active = client.resolve(server_host.address(kPort, 1));
  EXPECT_STREQ(active->raw()->verbs->device->name, "mlx5_0");
  EXPECT_EQ(active->raw()->port_num, 2);
  Pipe near(*active);
  rdma_conn_param param = parameters("");
  active->connect(&param).value();

  const auto passive = server.expect_request();

  EXPECT_EQ(passive->raw()->port_num, 2);
  Pipe far(*passive);
  far.post_receive(1, 0, 64);
  passive->accept(&param).value();
  client.expect(RDMA_CM_EVENT_ESTABLISHED);
  server.expect(RDMA_CM_EVENT_ESTABLISHED);
  near.post(IBV_WR_SEND, 7, 0, 8);
  EXPECT_EQ(near.wait_sent().status, IBV_WC_SUCCESS);
  EXPECT_GT(client_host.hca().counters_of(2).packets_out, 0u);
}

TEST_F(PortsOfADevice, AConnectionWithAnAlternatePathSurvivesTheLossOfItsPort) {
  const auto load = [](const cm::Id& id, const Host& peer) {
    ibv_qp_attr attr{};
    attr.alt_ah_attr.is_global = 1;
    attr.alt_ah_attr.port_num = attr.alt_port_num = 2;
    attr.alt_ah_attr.grh.dgid = peer.address(0, 1).gid();
    attr.alt_timeout = 14;
    attr.path_mig_state = IBV_MIG_REARM;
    verbs::provider_of(id.qp()->context)
        .modify_qp(id.qp(), &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
        .value();
  };
  const auto active = client.resolve(server_host.address(kPort, 0));
  Pipe near(*active);
  rdma_conn_param param = parameters("");
  param.retry_count = 2;
  active->connect(&param).value();
  const auto passive = server.expect_request();
  Pipe far(*passive);
  for (std::uint64_t i = 0; i < 3; ++i) far.post_receive(i, 0, 64);
  passive->accept(&param).value();
  client.expect(RDMA_CM_EVENT_ESTABLISHED);
  server.expect(RDMA_CM_EVENT_ESTABLISHED);
  load(*active, server_host);
  load(*passive, client_host);
  const auto send = [&near] {
    near.post(IBV_WR_SEND, 7, 0, 8);
    return near.wait_sent().status;
  };
  EXPECT_EQ(send(), IBV_WC_SUCCESS);

  happen("cut-rail server eth0");

  EXPECT_EQ(send(), IBV_WC_SUCCESS);
  EXPECT_EQ(send(), IBV_WC_SUCCESS);
  for (int received = 0; received < 3; ++received)
    EXPECT_EQ(far.wait_received().status, IBV_WC_SUCCESS);
  EXPECT_GT(client_host.hca().counters_of(2).packets_out, 0u);
}

TEST_F(PortsOfADevice, APortThatFailsLeavesTheOtherOne) {
  happen("port-down client mlx5_0/2");

  EXPECT_EQ(client_host.hca().state_of(1), IBV_PORT_ACTIVE);
  EXPECT_EQ(client_host.hca().state_of(2), IBV_PORT_DOWN);
  happen("port-up client mlx5_0/2");
  EXPECT_EQ(client_host.hca().state_of(2), IBV_PORT_ACTIVE);
}

TEST_F(PortsOfADevice, ADeviceReturnsWithItsPorts) {
  happen("remove client mlx5_0");
  happen("return client mlx5_0");

  const auto id = client.resolve(server_host.address(kPort, 1));
  EXPECT_EQ(id->raw()->port_num, 2);
}

TEST_F(PortsOfADevice, EachPortOfTheWorldHasALid) {
  Host& third = world.add_host("third", two_ports("3", IBV_LINK_LAYER_INFINIBAND));

  EXPECT_EQ(lid(third, 1), 5);
  EXPECT_EQ(lid(third, 2), 6);
}

}  // namespace
}  // namespace anyrdma::sim::testing
