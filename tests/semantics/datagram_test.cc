// Facts 52 to 55 of docs/facts.md, and what 1 and 24 say of datagrams.
#include <gmock/gmock.h>

#include <array>
#include <string>

#include "tests/semantics/scenario.h"
#include "transport/ibcm/wire/sidr_rep.h"

namespace anyrdma::semantics {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kUdpQkey = RDMA_UDP_QKEY;

class Datagrams : public Scenario {
 protected:
  /// The client asks the service for an address to send to.
  rdma_cm_id* ask(std::string_view data = "") {
    rdma_cm_id* id = client.routed(kServer, RDMA_PS_UDP);
    Party::make_qp(id);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    return id;
  }
  /// A service on the server.
  rdma_cm_id* serve() { return server.listen(kServer, 8, RDMA_PS_UDP); }
  void accept(rdma_cm_id* id, std::string_view data = "") {
    if (id->qp == nullptr) Party::make_qp(id);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_accept(id, &param)), 0);
  }
  /// The server's host answers the last request with a QKey that no Linux would choose.
  void answer_with_qkey(std::uint32_t qkey) {
    const std::string text = world.trace().text();
    const std::size_t at = text.rfind("request=0x");
    ASSERT_NE(at, std::string::npos);
    ibcm::wire::SidrRep reply;
    reply.request_id = wire::CommId(static_cast<std::uint32_t>(
        std::stoul(text.substr(at + std::strlen("request="), 10), nullptr, 16)));
    reply.q_key = qkey;
    std::array<std::uint8_t, verbs::soft::kMadBytes> mad{};
    reply.serialize(mad);
    verbs::CriticalSection section(server_host.runtime());
    server_host.hca().send_mad({server_host.address().gid(), client_host.address().gid()}, mad);
  }
};

TEST_F(Datagrams, Fact01PrivateDataHas180And136Bytes) {
  serve();
  ask("ask");

  const Seen request = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request.data, padded("ask", 180));
  accept(request.id, "yes");
  EXPECT_EQ(client.take(RDMA_CM_EVENT_ESTABLISHED).data, padded("yes", 136));
}

TEST_F(Datagrams, Fact24DisconnectingSucceedsAndOnlyFlushesTheQp) {
  serve();
  rdma_cm_id* id = ask();
  accept(server.take_request());
  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_EQ(error_of(rdma_disconnect(id)), 0);

  EXPECT_EQ(Party::qp_state(id), IBV_QPS_ERR);
  client.expect_silence();
  server.expect_silence(0s);
  EXPECT_THAT(sent("client", "DREQ"), IsEmpty());
}

TEST_F(Datagrams, Fact52AcceptingGivesTheServerNoEvent) {
  serve();
  ask();
  accept(server.take_request());

  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  server.expect_silence();
  EXPECT_THAT(sent("server", "SIDR_REP"), SizeIs(1));
}

TEST_F(Datagrams, Fact53ARequestThatIsRepeatedAfterTheReplyIsANewOne) {
  plan("on server->client SIDR_REP 1: lose");
  serve();
  rdma_cm_id* id = ask();
  rdma_cm_id* first = server.take_request();
  const Instant asked = world.now();
  accept(first);

  rdma_cm_id* second = server.take_request();

  EXPECT_NE(second, first);
  EXPECT_NEAR(seconds(world.now() - asked), 4.1, 0.1);
  accept(second);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_ESTABLISHED, 0).id, id);
}

TEST_F(Datagrams, Fact54ARejectionIsUnreachableWithStatus2) {
  serve();
  ask();
  EXPECT_EQ(error_of(rdma_reject(server.take_request(), "no", 2)), 0);

  const Seen seen = client.take(RDMA_CM_EVENT_UNREACHABLE, 2);

  EXPECT_EQ(seen.data, padded("no", 136));
  EXPECT_EQ(seen.ud.qp_num, 0u);
  EXPECT_EQ(seen.ud.qkey, 0u);
}

TEST_F(Datagrams, Fact54NoListenerIsUnreachableWithStatus1) {
  ask();

  EXPECT_EQ(client.take(RDMA_CM_EVENT_UNREACHABLE, 1).data, padded("", 136));
}

TEST_F(Datagrams, Fact55AReplyWithoutAQkeyIsAnAddressError) {
  serve();
  ask();
  server.take_request();

  answer_with_qkey(0);

  client.take(RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);
}

TEST_F(Datagrams, Fact55AReplyWithAnotherQkeyIsAnAddressError) {
  serve();
  ask();
  server.take_request();

  answer_with_qkey(kUdpQkey + 1);

  client.take(RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);
}

}  // namespace
}  // namespace anyrdma::semantics
