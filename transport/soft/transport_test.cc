// Connections between two hosts, from address to disconnect.
#include "transport/soft/transport.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "transport/soft/testing/world.h"

namespace anyrdma::transport::soft::testing {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

Bytes padded(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

class Connecting : public World {
 protected:
  void TearDown() override {
    b.events.requests.clear();
    client_events.requests.clear();
  }
  /// A connection up to the server's decision.
  void request(const ConnectionParameters& parameters = {}) {
    server = listener(b, b.address(0, kPort));
    client = routed(a, b.address(0, kPort));
    ASSERT_TRUE(client->connect(parameters));
    settle();
    ASSERT_EQ(b.events.requests.size(), 1u);
  }
  void establish() {
    request();
    b.events.events.clear();
    ASSERT_TRUE(child().accept({}));
    settle();
    (void)a.events.only(RDMA_CM_EVENT_CONNECT_RESPONSE);
    ASSERT_TRUE(client->establish());
    settle();
    (void)b.events.only(RDMA_CM_EVENT_ESTABLISHED);
  }
  Endpoint& child() { return *b.events.requests.front(); }

  std::unique_ptr<Endpoint> server;
  std::unique_ptr<Endpoint> client;
  Recorder client_events;
};

TEST_F(Connecting, RequestCarriesParametersSwappedAndDataPadded) {
  const Bytes data{1, 2, 3};

  request({.responder_resources = 3,
           .initiator_depth = 5,
           .flow_control = 1,
           .retry_count = 6,
           .rnr_retry_count = 4,
           .srq = 1,
           .qp_num = 0x1234,
           .private_data = data});

  const Seen seen = b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.conn.responder_resources, 5);
  EXPECT_EQ(seen.conn.initiator_depth, 3);
  EXPECT_EQ(seen.conn.flow_control, 1);
  EXPECT_EQ(seen.conn.retry_count, 6);
  EXPECT_EQ(seen.conn.rnr_retry_count, 4);
  EXPECT_EQ(seen.conn.srq, 1);
  EXPECT_EQ(seen.conn.qp_num, 0x1234u);
  EXPECT_EQ(seen.private_data, padded(data, 56));
}

TEST_F(Connecting, ResponseCarriesParametersSwappedAndDataPadded) {
  request();
  const Bytes data{7};

  ASSERT_TRUE(child().accept(
      {.responder_resources = 1, .initiator_depth = 2, .qp_num = 77, .private_data = data}));
  settle();

  const Seen seen = a.events.only(RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(seen.conn.responder_resources, 2);
  EXPECT_EQ(seen.conn.initiator_depth, 1);
  EXPECT_EQ(seen.conn.qp_num, 77u);
  EXPECT_EQ(seen.private_data, padded(data, 196));
}

TEST_F(Connecting, EstablishedOnThePassiveSideHasNothingButItsName) {
  request();
  ASSERT_TRUE(child().accept({}));
  settle();
  b.events.events.clear();

  ASSERT_TRUE(client->establish());
  settle();

  const Seen seen = b.events.only(RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_TRUE(seen.private_data.empty());
  EXPECT_EQ(seen.conn.qp_num, 0u);
}

TEST_F(Connecting, NewEndpointHasTheAddressesOfTheRequest) {
  request();

  const Binding binding = child().binding();
  const Binding active = client->binding();

  EXPECT_NE(binding.verbs, nullptr);
  EXPECT_EQ(binding.port_num, 1);
  const auto& local = reinterpret_cast<const sockaddr&>(binding.addr.src_storage);
  const auto& peer = reinterpret_cast<const sockaddr&>(binding.addr.dst_storage);
  EXPECT_EQ(Address::from(local).value(), b.address(0, kPort));
  EXPECT_TRUE(Address::from(peer).value().same_ip(a.address()));
  EXPECT_EQ(Address::from(peer).value().port,
            Address::from(reinterpret_cast<const sockaddr&>(active.addr.src_storage)).value().port);
  EXPECT_EQ(0, std::memcmp(&binding.addr.addr.ibaddr.sgid, &active.addr.addr.ibaddr.dgid, 16));
  EXPECT_EQ(0, std::memcmp(&binding.addr.addr.ibaddr.dgid, &active.addr.addr.ibaddr.sgid, 16));
}

TEST_F(Connecting, TooMuchDataIsRefusedAndTheEndpointConnectsAfterwards) {
  auto listening = listener(b, b.address(0, kPort));
  auto connecting = routed(a, b.address(0, kPort));
  const Bytes data(57, 1);

  EXPECT_EQ(connecting->connect({.private_data = data}).error(), verbs::errno_code(EINVAL));

  const std::span<const std::uint8_t> fits(data.data(), 56);
  EXPECT_TRUE(connecting->connect({.private_data = fits}));
  settle();
  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST).private_data, Bytes(56, 1));
}

TEST_F(Connecting, AcceptWithTooMuchDataRejects) {
  request();
  const Bytes data(197, 1);

  EXPECT_EQ(child().accept({.private_data = data}).error(), verbs::errno_code(EINVAL));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
  EXPECT_EQ(child().accept({}).error(), verbs::errno_code(EINVAL));
}

TEST_F(Connecting, RejectWithTooMuchDataSendsNothing) {
  request();
  const Bytes data(149, 1);

  EXPECT_EQ(child().reject(28, data).error(), verbs::errno_code(EINVAL));
  settle();
  EXPECT_TRUE(a.events.events.empty());

  EXPECT_TRUE(child().reject(28, std::span(data).first(148)));
  settle();
  const Seen seen = a.events.only(RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(seen.status, 28);
  EXPECT_EQ(seen.private_data, Bytes(148, 1));
  EXPECT_EQ(child().reject(28, {}).error(), verbs::errno_code(EINVAL));
}

TEST_F(Connecting, DisconnectReachesBothSides) {
  establish();

  ASSERT_TRUE(client->disconnect());
  settle();
  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_DISCONNECTED).status, 0);
  EXPECT_TRUE(a.events.events.empty());

  ASSERT_TRUE(child().disconnect());
  settle();
  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_DISCONNECTED).status, 0);
  run_for(10s);
  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_TIMEWAIT_EXIT).status, 0);
  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_TIMEWAIT_EXIT).status, 0);
}

TEST_F(Connecting, DisconnectThatCannotSayAnythingSucceeds) {
  request();

  EXPECT_TRUE(client->disconnect());

  EXPECT_EQ(a.trace.sent(kDreq), 0);
}

TEST_F(Connecting, CallsThatNeedAConnectionAreRefusedWithoutOne) {
  auto fresh = a.endpoint();

  EXPECT_EQ(fresh->disconnect().error(), verbs::errno_code(EINVAL));
  EXPECT_EQ(fresh->accept({}).error(), verbs::errno_code(EINVAL));
  EXPECT_EQ(fresh->reject(28, {}).error(), verbs::errno_code(EINVAL));
  EXPECT_EQ(fresh->establish().error(), verbs::errno_code(EINVAL));
  EXPECT_EQ(fresh->notify(IBV_EVENT_COMM_EST).error(), verbs::errno_code(EINVAL));
  EXPECT_EQ(fresh->connect({}).error(), verbs::errno_code(EINVAL));
}

TEST_F(Connecting, NotifyEstablishesOnce) {
  request();
  EXPECT_EQ(child().notify(IBV_EVENT_COMM_EST).error(), verbs::errno_code(EINVAL));
  ASSERT_TRUE(child().accept({}));
  settle();
  b.events.events.clear();

  EXPECT_EQ(child().notify(IBV_EVENT_PATH_MIG).error(), verbs::errno_code(EINVAL));
  EXPECT_TRUE(child().notify(IBV_EVENT_COMM_EST));
  EXPECT_EQ(child().notify(IBV_EVENT_COMM_EST).error(), verbs::errno_code(EISCONN));
  settle();

  (void)b.events.only(RDMA_CM_EVENT_ESTABLISHED);
}

TEST_F(Connecting, EstablishBeforeTheResponseAborts) {
  request();

  EXPECT_EQ(client->establish().error(), verbs::errno_code(EINVAL));
  settle();

  EXPECT_EQ(a.trace.sent(kRej), 1);
}

TEST_F(Connecting, EventsComeFromDrainOnly) {
  auto endpoint = a.endpoint();
  const Sockaddr to(b.address(0, kPort));

  ASSERT_TRUE(endpoint->resolve_address(nullptr, to.get(), 2s));
  EXPECT_TRUE(a.events.events.empty());

  EXPECT_TRUE(a.transport->drain(runtime.time));
  (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_FALSE(a.transport->drain(runtime.time));
}

TEST_F(Connecting, SilentPeerIsUnreachableAfterTheProfilesTime) {
  auto connecting = routed(a, b.address(0, kPort));
  wire = [](const verbs::soft::Packet&) { return false; };
  ASSERT_TRUE(connecting->connect({}));

  run_for(100s);
  EXPECT_TRUE(a.events.events.empty());
  run_for(5s);

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
  EXPECT_EQ(a.trace.sent(kReq), 16);
}

TEST_F(Connecting, FullBacklogIsSilenceAndTheRepetitionIsNew) {
  server = listener(b, b.address(0, kPort));
  client = routed(a, b.address(0, kPort));
  b.events.room = 0;
  ASSERT_TRUE(client->connect({}));
  settle();
  EXPECT_TRUE(b.trace.attributes.empty());
  EXPECT_EQ(b.trace.dropped, std::vector{ibcm::DropReason::kBacklogFull});

  b.events.room = 1;
  run_for(7s);

  (void)b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
}

TEST_F(Connecting, DestroyedClientIsRejectedToTheServer) {
  request();
  ASSERT_TRUE(child().accept({}));
  settle();
  b.events.events.clear();

  client.reset();
  settle();

  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(Connecting, DestroyedRequestIsRejectedToTheClient) {
  request();

  b.events.requests.clear();
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(Connecting, DestroyedConnectionSaysGoodbyeOnce) {
  establish();

  client.reset();
  settle();

  EXPECT_EQ(a.trace.sent(kDreq), 1);
  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_DISCONNECTED).status, 0);
}

TEST_F(Connecting, EventsOfADestroyedEndpointVanish) {
  auto endpoint = a.endpoint();
  const Sockaddr to(b.address(0, kPort));
  ASSERT_TRUE(endpoint->resolve_address(nullptr, to.get(), 2s));

  endpoint.reset();
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Connecting, AConnectedServiceHasNoDatagramQueuePair) {
  client = routed(a, b.address(0, kPort));

  EXPECT_EQ(client->connect({.qp_type = IBV_QPT_UD}).error(), verbs::errno_code(EINVAL));
}

TEST_F(Connecting, PortsComeBackWhenEndpointsGo) {
  establish();
  EXPECT_EQ(a.ports.size(), 1u);
  EXPECT_EQ(b.ports.size(), 1u);

  server.reset();
  EXPECT_EQ(b.ports.size(), 0u);  // although the connection lives
  client.reset();
  EXPECT_EQ(a.ports.size(), 0u);
}

TEST_F(Connecting, AnUnknownPortSpaceIsRefusedAndMissingDevicesAreNot) {
  Recorder events;
  EXPECT_EQ(a.transport->create_endpoint(rdma_port_space{}, IBV_QPT_RC, events).error(),
            verbs::errno_code(EINVAL));
  Host bare(runtime, pool, 3, 1);
  EXPECT_TRUE(bare.transport->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, events).has_value());
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
