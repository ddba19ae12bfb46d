// Facts 24 to 31 of docs/facts.md: how connections end.
#include <gmock/gmock.h>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Disconnect : public Scenario {
 protected:
  static void disconnect(rdma_cm_id* id) { EXPECT_EQ(error_of(rdma_disconnect(id)), 0); }
};

TEST_F(Disconnect, Fact24OfAConnectingIdSucceedsAndOnlyFlushesTheQp) {
  const Connection connection = request();

  disconnect(connection.active);
  disconnect(connection.passive);

  EXPECT_EQ(Party::qp_state(connection.active), IBV_QPS_ERR);
  EXPECT_EQ(Party::qp_state(connection.passive), IBV_QPS_ERR);
  client.expect_silence(100s);
  server.expect_silence(0s);
  EXPECT_THAT(sent("client", "DREQ"), IsEmpty());
  EXPECT_THAT(sent("server", "DREQ"), IsEmpty());
}

TEST_F(Disconnect, Fact24OfARejectedIdSucceeds) {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_reject(connection.passive, nullptr, 0)), 0);
  client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);

  disconnect(connection.active);
  disconnect(connection.passive);

  client.expect_silence();
  EXPECT_THAT(sent("client", "DREQ"), IsEmpty());
}

TEST_F(Disconnect, Fact24OfADisconnectedIdSucceeds) {
  const Connection connection = connect();
  disconnect(connection.active);
  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  disconnect(connection.passive);
  client.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  client.take(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
  server.take(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);

  disconnect(connection.active);
  disconnect(connection.passive);

  client.expect_silence();
  server.expect_silence(0s);
  EXPECT_THAT(sent("client", "DREQ"), SizeIs(1));
}

enum class Side { kActive, kPassive };

/// How long one side waits for a peer that does not answer its disconnect.
double patience_for_the_drep(Side side, const ibcm::Profile& profile) {
  Pair pair(profile);
  const Pair::Connection connection = pair.connect();
  Party& first = side == Side::kActive ? pair.client : pair.server;
  Party& second = side == Side::kActive ? pair.server : pair.client;
  const Instant start = pair.world.now();
  const auto id = side == Side::kActive ? connection.active : connection.passive;
  EXPECT_EQ(error_of(rdma_disconnect(id)), 0);
  second.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  first.take(RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
  const double waited = seconds(pair.world.now() - start);
  EXPECT_THAT(pair.sent(side == Side::kActive ? "client" : "server", "DREQ"), SizeIs(16));
  EXPECT_THAT(pair.sent(side == Side::kActive ? "server" : "client", "DREP"), IsEmpty());
  return waited;
}

TEST(DisconnectTime, Fact25WithoutTheRespondersOwnDisconnectTheInitiatorTimesOut) {
  EXPECT_NEAR(patience_for_the_drep(Side::kActive, ibcm::kLinux617), 73.728, 0.001);
  EXPECT_NEAR(patience_for_the_drep(Side::kPassive, ibcm::kLinux617), 65.536, 0.001);
  EXPECT_NEAR(patience_for_the_drep(Side::kActive, ibcm::kLinux61), 102.2, 0.1);
  EXPECT_NEAR(patience_for_the_drep(Side::kPassive, ibcm::kLinux61), 69.4, 0.1);
}

TEST_F(Disconnect, Fact26WhenBothDisconnectAtOnceEachIsToldOnceAndNobodyAnswers) {
  const Connection connection = connect();
  disconnect(connection.active);
  disconnect(connection.passive);

  client.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);

  client.expect_silence();
  server.expect_silence(0s);
  EXPECT_THAT(sent("client", "DREP"), IsEmpty());
  EXPECT_THAT(sent("server", "DREP"), IsEmpty());

  disconnect(connection.active);  // once more: DREP
  client.take(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
  server.take(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
  client.expect_silence();
  server.expect_silence(0s);
}

TEST_F(Disconnect, Fact27BeingDisconnectedLeavesTheQpAlone) {
  const Connection connection = connect();
  disconnect(connection.active);
  EXPECT_EQ(Party::qp_state(connection.active), IBV_QPS_ERR);

  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);

  EXPECT_EQ(Party::qp_state(connection.passive), IBV_QPS_RTS);
  disconnect(connection.passive);
  EXPECT_EQ(Party::qp_state(connection.passive), IBV_QPS_ERR);
}

/// How long a side spends in timewait.
double timewait(Side side, const ibcm::Profile& profile) {
  Pair pair(profile);
  const Pair::Connection connection = pair.connect();
  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);
  pair.server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  EXPECT_EQ(error_of(rdma_disconnect(connection.passive)), 0);  // DREP: the server's begins
  const Instant answered = pair.world.now();
  const Instant told = pair.client.take(RDMA_CM_EVENT_DISCONNECTED, 0).when;
  Party& party = side == Side::kActive ? pair.client : pair.server;
  const Instant over = party.take(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0).when;
  return seconds(over - (side == Side::kActive ? told : answered));
}

// The path's lifetime and the device's ACK delay decide: 6.1 assumes four times the lifetime.
TEST(DisconnectTime, Fact28TimewaitExitComesAfter512To1024Milliseconds) {
  for (const Side side : {Side::kActive, Side::kPassive}) {
    EXPECT_GE(timewait(side, ibcm::kLinux617), 0.512);
    EXPECT_LE(timewait(side, ibcm::kLinux617), 1.024);
    EXPECT_NEAR(timewait(side, ibcm::kLinux61), 2.1, 0.1);
  }
}

TEST_F(Disconnect, Fact28TimewaitExitNeverFollowsARejection) {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  EXPECT_EQ(error_of(rdma_reject(connection.passive, nullptr, 0)), 0) << "even after the accept";
  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);

  client.expect_silence();
  server.expect_silence(0s);
}

TEST_F(Disconnect, Fact29ALostDrepCostsTheInitiatorTheFullTimeWhenTheResponderKeepsItsId) {
  plan("on server->client DREP 1: lose");
  const Connection connection = connect();
  const Instant start = world.now();
  disconnect(connection.active);
  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  disconnect(connection.passive);

  client.take(RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);

  EXPECT_NEAR(seconds(world.now() - start), 102.2, 0.1);
  EXPECT_THAT(sent("server", "DREP"), SizeIs(1)) << "the repetitions came after its timewait";
}

TEST_F(Disconnect, Fact29ALostDrepIsRepeatedWhenTheResponderDestroyedItsId) {
  plan("on server->client DREP 1: lose");
  const Connection connection = connect();
  const Instant start = world.now();
  disconnect(connection.active);
  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  server.destroy(connection.passive);  // DREP; the next DREQ finds nobody

  client.take(RDMA_CM_EVENT_DISCONNECTED, 0);

  EXPECT_NEAR(seconds(world.now() - start), 6.2, 0.11);
  EXPECT_THAT(sent("server", "DREP"), SizeIs(2));
}

TEST_F(Disconnect, Fact30DestroyingAnEstablishedIdSendsOneDreq) {
  const Connection connection = connect();

  client.destroy(connection.active);

  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  pass(300s);
  EXPECT_THAT(sent("client", "DREQ"), SizeIs(1));
}

TEST_F(Disconnect, Fact30IfThatDreqIsLostThePeerNeverLearns) {
  plan("on client->server DREQ 1: lose");
  const Connection connection = connect();

  client.destroy(connection.active);

  server.expect_silence();
  EXPECT_THAT(sent("client", "DREQ"), SizeIs(1));
}

TEST_F(Disconnect, Fact31ARequestWithAQpnThatIsStillConnectedEndsBothConnections) {
  server.listen(kServer);
  rdma_conn_param param = parameters();
  rdma_cm_id* old_one = client.routed(kServer);
  EXPECT_EQ(error_of(rdma_connect(old_one, &param)), 0);
  rdma_cm_id* passive = server.take_request();
  rdma_conn_param reply = parameters();
  EXPECT_EQ(error_of(rdma_accept(passive, &reply)), 0);
  client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
  EXPECT_EQ(error_of(rdma_establish(old_one)), 0);
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  rdma_cm_id* again = client.routed(kServer);
  EXPECT_EQ(error_of(rdma_connect(again, &param)), 0);  // the same QPN

  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kStaleConnection).id, again);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_DISCONNECTED, 0).id, old_one) << "the server's DREQ";
  disconnect(old_one);
  EXPECT_EQ(server.take(RDMA_CM_EVENT_DISCONNECTED, 0).id, passive);
}

}  // namespace
}  // namespace anyrdma::semantics
