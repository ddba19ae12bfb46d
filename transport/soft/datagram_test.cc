// Datagram services between two hosts: SIDR in the place of a handshake (IBTA vol 1, 12.11; the
// kernel's cma_resolve_ib_udp).
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kQkey = RDMA_UDP_QKEY;
constexpr std::size_t kUserData = 180;
constexpr std::size_t kReplyData = 136;

class Datagrams : public World {
 protected:
  void TearDown() override { b.events.requests.clear(); }
  void ask(const ConnectionParameters& parameters = {}) {
    client = routed(a, b.address(0, kPort), RDMA_PS_UDP);
    ASSERT_TRUE(client->connect(parameters));
    settle();
  }
  void request(const ConnectionParameters& parameters = {}) {
    server = listener(b, b.address(0, kPort), RDMA_PS_UDP);
    ask(parameters);
    ASSERT_EQ(b.events.requests.size(), 1u);
  }
  Endpoint& child() { return *b.events.requests.front(); }
  /// The peer's HCA answers with what no endpoint of ours would say.
  void forge_reply(const ibcm::SidrRepParameters& reply) {
    const std::uint32_t id = last_request_id();
    std::array<std::uint8_t, ibcm::kMadBytes> mad{};
    const std::array<std::uint8_t, 4> header{1, 7, 2, 3};
    std::copy(header.begin(), header.end(), mad.begin());
    mad[17] = kSidrRep;
    for (std::size_t i = 0; i < 4; ++i) {
      mad[24 + i] = static_cast<std::uint8_t>(id >> (24 - 8 * i));
      mad[24 + 20 + i] = static_cast<std::uint8_t>(reply.qkey >> (24 - 8 * i));
    }
    mad[24 + 4] = reply.status;
    b.hcas[0]->send_mad({b.address().gid(), a.address().gid()}, mad);
    settle();
  }
  /// From the packet on the wire.
  std::uint32_t last_request_id() const { return request_id; }
  void watch_requests() {
    wire = [this](const verbs::soft::Packet& packet) {
      constexpr std::size_t kMadAt = 20;
      const auto bytes = packet.payload();
      if (bytes[kMadAt + 17] == kSidrReq) {
        request_id = 0;
        for (std::size_t i = 0; i < 4; ++i) request_id = request_id << 8 | bytes[kMadAt + 24 + i];
      }
      return true;
    };
  }

  std::uint32_t request_id = 0;
  std::unique_ptr<Endpoint> server;
  std::unique_ptr<Endpoint> client;
};

TEST_F(Datagrams, ARequestSaysNothingOfItsSenderButItsData) {
  const Bytes data{1, 2, 3};

  request({.qp_num = 0x1234, .private_data = data});

  const Seen seen = b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(seen.status, 0);
  ASSERT_TRUE(seen.ud);
  EXPECT_EQ(seen.ud->qp_num, 0u);
  EXPECT_EQ(seen.ud->qkey, 0u);
  EXPECT_EQ(seen.ud->ah_attr.is_global, 0);
  EXPECT_EQ(seen.conn.qp_num, 0u);
  ASSERT_EQ(seen.private_data.size(), kUserData);
  EXPECT_EQ(Bytes(seen.private_data.begin(), seen.private_data.begin() + 3), data);
  EXPECT_EQ(seen.private_data[3], 0);
}

TEST_F(Datagrams, ANewEndpointHasTheAddressesOfTheRequest) {
  request();

  const Binding binding = child().binding();
  const auto& local = reinterpret_cast<const sockaddr&>(binding.addr.src_storage);
  const auto& peer = reinterpret_cast<const sockaddr&>(binding.addr.dst_storage);
  EXPECT_EQ(Address::from(local).value(), b.address(0, kPort));
  EXPECT_TRUE(Address::from(peer).value().same_ip(a.address()));
  EXPECT_EQ(0, std::memcmp(binding.addr.addr.ibaddr.dgid.raw, a.address().ip.data(), 16));
}

TEST_F(Datagrams, AcceptingTellsTheClientWhereToSendAndTheServerNothing) {
  request();
  b.events.events.clear();
  const Bytes data{9};

  ASSERT_TRUE(child().accept({.qp_num = 0x777, .private_data = data}));
  settle();

  EXPECT_TRUE(b.events.events.empty());
  const Seen seen = a.events.only(RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(seen.status, 0);
  ASSERT_TRUE(seen.ud);
  EXPECT_EQ(seen.ud->qp_num, 0x777u);
  EXPECT_EQ(seen.ud->qkey, kQkey);
  EXPECT_EQ(seen.ud->ah_attr.is_global, 1);
  EXPECT_EQ(seen.ud->ah_attr.port_num, 1);
  EXPECT_EQ(seen.ud->ah_attr.grh.sgid_index, 1);
  EXPECT_EQ(0, std::memcmp(seen.ud->ah_attr.grh.dgid.raw, b.address().ip.data(), 16));
  ASSERT_EQ(seen.private_data.size(), kReplyData);
  EXPECT_EQ(seen.private_data[0], 9);
}

// No event shows them, neither here nor with Linux: what is on the wire counts.
TEST_F(Datagrams, TheAnswerCarriesTheOptionsOfItsVendor) {
  request();
  std::optional<ibcm::wire::SidrRep> answer;
  wire = [&answer](const verbs::soft::Packet& packet) {
    constexpr std::size_t kMadAt = 20;
    const auto mad = packet.payload().subspan(kMadAt).first<ibcm::kMadBytes>();
    const auto parsed = ibcm::wire::SidrRep::parse(mad);
    if (parsed) answer = *parsed;
    return true;
  };

  ASSERT_TRUE(child().accept(
      {.qp_num = 0x777, .ece = {.vendor_id = 0x123456, .options = 0x89abcdef, .comp_mask = 0}}));
  settle();

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->vendor_id, 0x123456u);
  EXPECT_EQ(answer->attribute_modifier, 0x89abcdefu);
}

TEST_F(Datagrams, ARejectIsUnreachableWithStatusTwoAndData) {
  request();
  const Bytes data{'n', 'o'};

  ASSERT_TRUE(child().reject(ibcm::kRejConsumerDefined, data));
  settle();

  const Seen seen = a.events.only(RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(seen.status, 2);
  ASSERT_TRUE(seen.ud);
  EXPECT_EQ(seen.ud->qp_num, 0u);
  ASSERT_EQ(seen.private_data.size(), kReplyData);
  EXPECT_EQ(seen.private_data[1], 'o');
}

TEST_F(Datagrams, NobodyListeningIsUnreachableWithStatusOne) {
  ask();

  const Seen seen = a.events.only(RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(seen.status, 1);
  EXPECT_EQ(seen.private_data.size(), kReplyData);
}

TEST_F(Datagrams, SilenceIsUnreachableByTimeAndTellsNothing) {
  wire = [](const verbs::soft::Packet&) { return false; };
  ask();

  run_for(std::chrono::seconds(80));

  const Seen seen = a.events.only(RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(seen.status, -ETIMEDOUT);
  EXPECT_FALSE(seen.ud);
  EXPECT_TRUE(seen.private_data.empty());
  EXPECT_EQ(a.trace.sent(kSidrReq), 16);
}

TEST_F(Datagrams, AnUnansweredRequestIsHeardOnce) {
  request();

  run_for(std::chrono::seconds(20));

  EXPECT_EQ(b.events.requests.size(), 1u);
  EXPECT_GT(a.trace.sent(kSidrReq), 3);
  EXPECT_EQ(b.trace.sent(kMra), 0);
}

TEST_F(Datagrams, ALostAnswerMakesASecondRequest) {
  request();
  wire = [](const verbs::soft::Packet&) { return false; };
  ASSERT_TRUE(child().accept({}));
  settle();
  wire = nullptr;

  run_for(std::chrono::seconds(5));

  EXPECT_EQ(b.events.requests.size(), 2u);
}

TEST_F(Datagrams, AFullBacklogRejects) {
  b.events.room = 0;
  server = listener(b, b.address(0, kPort), RDMA_PS_UDP);

  ask();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, 2);
}

TEST_F(Datagrams, DestroyingTheRequestRejects) {
  request();

  b.events.requests.clear();
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, 2);
}

TEST_F(Datagrams, AQkeyThatIsZeroIsAnAddressError) {
  watch_requests();
  request();
  forge_reply({.qkey = 0});

  const Seen seen = a.events.only(RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(seen.status, -EINVAL);
}

TEST_F(Datagrams, AQkeyThatTheQueuePairDoesNotHaveIsAnAddressError) {
  watch_requests();
  server = listener(b, b.address(0, kPort), RDMA_PS_UDP);
  client = routed(a, b.address(0, kPort), RDMA_PS_UDP);
  ASSERT_TRUE(client->qp_transition(IBV_QPS_INIT));  // chooses the QKey
  ASSERT_TRUE(client->connect({}));
  settle();

  forge_reply({.qkey = kQkey + 1});

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -EINVAL);
}

TEST_F(Datagrams, WithoutAQueuePairAnyQkeyWillDo) {
  watch_requests();
  request();

  forge_reply({.qkey = kQkey + 1});

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ESTABLISHED).ud->qkey, kQkey + 1);
  EXPECT_EQ(client->qp_transition(IBV_QPS_INIT)->attr.qkey, kQkey + 1);
}

TEST_F(Datagrams, DisconnectingSucceedsAndSendsNothing) {
  request();
  ASSERT_TRUE(child().accept({}));
  settle();
  a.trace.attributes.clear();
  b.trace.attributes.clear();

  EXPECT_TRUE(client->disconnect());
  EXPECT_TRUE(child().disconnect());
  settle();

  EXPECT_TRUE(a.trace.attributes.empty());
  EXPECT_TRUE(b.trace.attributes.empty());
}

TEST_F(Datagrams, OneEndpointAsksOnce) {
  request();
  ASSERT_TRUE(child().accept({}));
  settle();

  EXPECT_EQ(errno_of(client->connect({})), EINVAL);
}

TEST_F(Datagrams, TooMuchDataIsRefusedAndTheEndpointAsksAgainWithLess) {
  const Bytes data(kUserData + 1);
  server = listener(b, b.address(0, kPort), RDMA_PS_UDP);
  client = routed(a, b.address(0, kPort), RDMA_PS_UDP);

  EXPECT_EQ(errno_of(client->connect({.private_data = data})), EINVAL);
  EXPECT_TRUE(client->connect({.private_data = std::span(data).first(kUserData)}));
  settle();

  EXPECT_EQ(b.events.requests.size(), 1u);
}

TEST_F(Datagrams, AcceptingWithTooMuchDataRejects) {
  request();
  const Bytes data(kReplyData + 1);

  EXPECT_EQ(errno_of(child().accept({.private_data = data})), EINVAL);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, 2);
  EXPECT_EQ(errno_of(child().accept({})), EINVAL);
}

TEST_F(Datagrams, RejectingWithTooMuchDataSendsNothingAndMayBeRepeated) {
  request();
  const Bytes data(kReplyData + 1);

  EXPECT_EQ(errno_of(child().reject(28, data)), EINVAL);
  settle();
  EXPECT_EQ(b.trace.sent(kSidrRep), 0);

  EXPECT_TRUE(child().reject(28, {}));
  EXPECT_EQ(errno_of(child().reject(28, {})), EINVAL);
}

TEST_F(Datagrams, EstablishingARequestRejectsIt) {
  request();

  EXPECT_TRUE(child().establish());
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, 2);
}

TEST_F(Datagrams, NotifyingIsRefusedInEveryState) {
  request();
  EXPECT_EQ(errno_of(child().notify(IBV_EVENT_COMM_EST)), EINVAL);
  EXPECT_EQ(errno_of(child().notify(IBV_EVENT_PATH_MIG)), EINVAL);

  ASSERT_TRUE(child().accept({}));

  EXPECT_EQ(errno_of(child().notify(IBV_EVENT_COMM_EST)), EINVAL);
}

// --- which requests reach which listener --------------------------------------------------------

TEST_F(Datagrams, OfTheSpaceOfInfinibandTheQueuePairTypeDecides) {
  auto datagrams = b.endpoint(RDMA_PS_IB, IBV_QPT_UD);
  const Sockaddr local(b.address(0, kPort));
  ASSERT_TRUE(datagrams->bind(local.get()));
  ASSERT_TRUE(datagrams->listen(8));
  auto connected = a.endpoint(RDMA_PS_IB, IBV_QPT_RC);
  route(a, *connected, b.address(0, kPort));
  ASSERT_TRUE(connected->connect({}));
  settle();
  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);

  client = a.endpoint(RDMA_PS_IB, IBV_QPT_UD);
  route(a, *client, b.address(0, kPort));
  ASSERT_TRUE(client->connect({}));
  settle();
  ASSERT_EQ(b.events.requests.size(), 1u);
  ASSERT_TRUE(child().accept({}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ESTABLISHED).ud->qkey, kQkey);
}

TEST_F(Datagrams, AConnectedListenerOfTheSameServiceRejects) {
  auto connected = b.endpoint(RDMA_PS_IB, IBV_QPT_RC);
  const Sockaddr local(b.address(0, kPort));
  ASSERT_TRUE(connected->bind(local.get()));
  ASSERT_TRUE(connected->listen(8));
  client = a.endpoint(RDMA_PS_IB, IBV_QPT_UD);
  route(a, *client, b.address(0, kPort));

  ASSERT_TRUE(client->connect({}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_UNREACHABLE).status, 2);
}

TEST_F(Datagrams, AnUnreliableConnectionReachesAListenerOfItsType) {
  auto unreliable = b.endpoint(RDMA_PS_IB, IBV_QPT_UC);
  const Sockaddr local(b.address(0, kPort));
  ASSERT_TRUE(unreliable->bind(local.get()));
  ASSERT_TRUE(unreliable->listen(8));
  client = a.endpoint(RDMA_PS_IB, IBV_QPT_UC);
  route(a, *client, b.address(0, kPort));

  ASSERT_TRUE(client->connect({.qp_type = IBV_QPT_UC}));
  settle();

  EXPECT_EQ(b.events.requests.size(), 1u);
}

// --- queue pairs --------------------------------------------------------------------------------

TEST_F(Datagrams, EveryTransitionIsThatOfTheBeginning) {
  request();
  ASSERT_TRUE(child().accept({}));
  settle();

  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    const QpTransition step = client->qp_transition(state).value();
    EXPECT_EQ(step.attr.qp_state, state);
    EXPECT_EQ(step.attr.qkey, kQkey);
    EXPECT_EQ(step.mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  }
}

TEST_F(Datagrams, TheServicesOfIpoibHaveNoQkeyOnRoce) {
  auto ipoib = a.endpoint(RDMA_PS_IPOIB);
  const Sockaddr loopback(Address::loopback(AF_INET));
  ASSERT_TRUE(ipoib->resolve_address(nullptr, loopback.get(), std::chrono::seconds(1)));
  settle();

  EXPECT_EQ(ipoib->qp_transition(IBV_QPS_INIT).error(), verbs::errno_code(ENODEV));
}

// --- enhanced connection establishment and path migration, of connections
// -------------------------

class Options : public Datagrams {
 protected:
  void handshake(const ibv_ece& of_client, const ibv_ece& of_server) {
    server = listener(b, b.address(0, kPort));
    client = routed(a, b.address(0, kPort));
    ASSERT_TRUE(client->connect({.ece = of_client}));
    settle();
    ASSERT_TRUE(child().accept({.ece = of_server}));
    settle();
  }
};

TEST_F(Options, EachSideSeesTheOthersEce) {
  handshake({.vendor_id = 0x15b3, .options = 0x80000007, .comp_mask = 0},
            {.vendor_id = 0x15b3, .options = 3, .comp_mask = 0});

  const Seen request = b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request.ece.vendor_id, 0x15b3u);
  EXPECT_EQ(request.ece.options, 0x80000007u);
  const Seen response = a.events.only(RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(response.ece.vendor_id, 0x15b3u);
  EXPECT_EQ(response.ece.options, 3u);
}

TEST_F(Options, ARefusalOfTheVendorsOptionsSaysSo) {
  server = listener(b, b.address(0, kPort));
  client = routed(a, b.address(0, kPort));
  ASSERT_TRUE(client->connect({}));
  settle();

  ASSERT_TRUE(child().reject(ibcm::kRejVendorOption, {}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 35);
}

TEST_F(Options, PathMigrationIsForEstablishedConnections) {
  handshake({}, {});
  EXPECT_EQ(errno_of(client->notify(IBV_EVENT_PATH_MIG)), EINVAL);
  ASSERT_TRUE(client->establish());
  settle();
  a.events.events.clear();

  EXPECT_TRUE(client->notify(IBV_EVENT_PATH_MIG));
  EXPECT_EQ(errno_of(client->notify(IBV_EVENT_COMM_EST)), EISCONN);
  EXPECT_EQ(errno_of(client->notify(IBV_EVENT_PATH_MIG_ERR)), EINVAL);
  settle();

  EXPECT_TRUE(a.events.events.empty());
}

TEST_F(Options, AConnectionWhoseGidIsGoneCannotBeAskedFor) {
  client = routed(a, b.address(0, kPort));
  a.hcas[0]->set_gid(1, ibv_gid{});

  EXPECT_EQ(errno_of(client->connect({})), EINVAL);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
