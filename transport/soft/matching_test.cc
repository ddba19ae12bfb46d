// Which listener a request reaches, and what it hears when there is none
// (cma.c:cma_ib_req_handler).
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "transport/ibcm/agent.h"
#include "transport/soft/cma_header.h"
#include "transport/soft/testing/world.h"

namespace anyrdma::transport::soft::testing {
namespace {

using namespace std::chrono_literals;

class Matching : public World {
 protected:
  void TearDown() override {
    client.reset();
    b.events.requests.clear();
  }
  /// Connects a to b's interface; what came of it: the reject status, or 0 for a request.
  int connect_to(const Address& destination) {
    client = routed(a, destination);
    EXPECT_TRUE(client->connect({}));
    settle();
    if (!b.events.requests.empty()) return 0;
    return a.events.only(RDMA_CM_EVENT_REJECTED).status;
  }
  std::unique_ptr<Endpoint> client;
};

TEST_F(Matching, WhoCannotBeAnsweredByThatInterfaceIsNotHeard) {
  auto server = listener(b, Address::ipv4(0, kPort));
  client = routed(a, b.address(0, kPort));
  b.network.cut_off = a.address();

  EXPECT_TRUE(client->connect({}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(Matching, NobodyListensIsInvalidServiceIdWithoutData) {
  EXPECT_EQ(connect_to(b.address(0, kPort)), 8);
}

TEST_F(Matching, SpecificListenerTakesItsAddress) {
  auto server = listener(b, b.address(0, kPort));

  EXPECT_EQ(connect_to(b.address(0, kPort)), 0);
}

TEST_F(Matching, WildcardListenerTakesEveryAddress) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(connect_to(b.address(0, kPort)), 0);
}

TEST_F(Matching, LoopbackListenerIsAWildcardListener) {
  auto server = listener(b, Address::ipv4(0x7f000001, kPort));

  EXPECT_EQ(connect_to(b.address(0, kPort)), 0);
}

TEST_F(Matching, Ipv6WildcardListenerTakesIpv4Too) {
  Address any6 = Address::wildcard(AF_INET6);
  any6.port = kPort;
  auto server = listener(b, any6);

  EXPECT_EQ(connect_to(b.address(0, kPort)), 0);
}

TEST_F(Matching, AfonlyIpv6ListenerDoesNotTakeIpv4) {
  const int one = 1;
  Address any6 = Address::wildcard(AF_INET6);
  any6.port = kPort;
  auto server = b.endpoint();
  ASSERT_TRUE(server->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY,
                                 {reinterpret_cast<const std::uint8_t*>(&one), sizeof one}));
  const Sockaddr local(any6);
  ASSERT_TRUE(server->bind(local.get()));
  ASSERT_TRUE(server->listen(8));

  EXPECT_EQ(connect_to(b.address(0, kPort)), 28);
}

TEST_F(Matching, OtherAddressOfTheSameDeviceAndPortIsConsumerDefined) {
  // A second address on interface 0's device, that nobody listens to.
  const Address second = Address::ipv4(0x0a090063, kPort);
  b.hcas[0]->set_gid(2, second.gid());
  auto server = listener(b, b.address(0, kPort));

  EXPECT_EQ(connect_to(second), 28);
}

TEST_F(Matching, ListenerOnAnotherDeviceIsNotFound) {
  a.add_device(1);
  b.add_device(1);
  auto server = listener(b, b.address(0, kPort));

  EXPECT_EQ(connect_to(b.address(1, kPort)), 8);
}

TEST_F(Matching, WildcardListenerListensOnLaterDevices) {
  auto server = listener(b, Address::ipv4(0, kPort));
  a.add_device(1);
  b.add_device(1);

  EXPECT_EQ(connect_to(b.address(1, kPort)), 0);
}

TEST_F(Matching, DestroyedListenerListensNoMore) {
  auto server = listener(b, Address::ipv4(0, kPort));
  server.reset();

  EXPECT_EQ(connect_to(b.address(0, kPort)), 8);
}

TEST_F(Matching, PortSpacesAreApart) {
  auto server = b.endpoint(RDMA_PS_IB);
  const Sockaddr local(b.address(0, kPort));
  ASSERT_TRUE(server->bind(local.get()));
  ASSERT_TRUE(server->listen(8));

  EXPECT_EQ(connect_to(b.address(0, kPort)), 8);
}

TEST_F(Matching, TcpListenerTakesNoUnreliableConnection) {
  auto server = listener(b, b.address(0, kPort));
  client = routed(a, b.address(0, kPort));
  ASSERT_TRUE(client->connect({.qp_type = IBV_QPT_UC}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(Matching, RequestWithoutRouteBackIsConsumerDefined) {
  auto server = listener(b, Address::ipv4(0, kPort));
  client = routed(a, b.address(0, kPort));
  b.network.addresses[0] = Address::ipv4(0x0a090063);  // b forgets the way to everybody ...
  b.network.addresses[1] = b.address(0);               // ... on the interface of its HCA
  ASSERT_TRUE(client->connect({}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

/// Requests with headers that no endpoint of ours would send.
class ForgedRequest : public Matching {
 protected:
  /// The answer to a REQ whose header is `header`: the REJ's reason, or 0.
  int answer_to(const CmaHeader& header, std::uint8_t version = 0) {
    ibcm::AgentConfig config;
    config.ca_guid = wire::Guid{99};
    auto agent = ibcm::Agent::create(config, a.random);
    std::array<std::uint8_t, 92> data{};
    header.serialize(std::span(data).first<CmaHeader::kSize>());
    data[0] = version;
    ibcm::ReqParameters request;
    request.service_id = ibcm::ServiceId{0x01060000u + kPort};
    request.path.source = a.address().ip;
    request.path.destination = b.address().ip;
    request.private_data = data;
    EXPECT_TRUE(agent->connect(runtime.time, request));
    return carry_to_b(*agent);
  }

 private:
  int carry_to_b(ibcm::Agent& agent) {
    const auto& message = std::get<ibcm::SendMad>(*agent.next_action());
    a.hcas[0]->send_mad({a.address().gid(), b.address().gid()}, message.mad);
    settle();
    const bool rejected = b.trace.sent(kRej) > 0;
    return rejected ? 28 : 0;
  }
};

TEST_F(ForgedRequest, ProperHeaderIsTaken) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(answer_to({a.address(0, 5000), b.address()}), 0);
  EXPECT_EQ(b.events.requests.size(), 1u);
}

TEST_F(ForgedRequest, UnknownHeaderVersionIsRejected) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(answer_to({a.address(0, 5000), b.address()}, 1), 28);
  EXPECT_TRUE(b.events.requests.empty());
}

TEST_F(ForgedRequest, LoopbackFromAnotherHostIsRejected) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(answer_to({Address::loopback(AF_INET), Address::loopback(AF_INET)}), 28);
}

TEST_F(ForgedRequest, MulticastIsRejected) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(answer_to({Address::ipv4(0xe0000001), b.address()}), 28);
}

TEST_F(ForgedRequest, AddressOfAnotherHostIsRejected) {
  auto server = listener(b, Address::ipv4(0, kPort));

  EXPECT_EQ(answer_to({a.address(0, 5000), address_of(77)}), 28);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
