// Facts 1 to 23 of docs/facts.md: how connections come about, and how not.
#include <gmock/gmock.h>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Establishment : public Scenario {
 protected:
  /// A client's id that asks the server for a connection, and takes no event.
  rdma_cm_id* ask(const char* to = kServer, std::string_view data = "") {
    rdma_cm_id* id = client.routed(to);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    return id;
  }
  static void accept(rdma_cm_id* id) {
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_accept(id, &param)), 0);
  }
  const std::string long_data = std::string(200, 'x');
};

// AF_IB's 92 bytes need InfiniBand's addressing; the datagrams' 180 and 136 are in datagram_test.
TEST_F(Establishment, Fact01PrivateDataHasTheFixedLengthOfItsMessage) {
  server.listen(kServer);
  ask(kServer, "ask");
  const Seen first = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(first.data, padded("ask", 56));
  EXPECT_EQ(error_of(rdma_reject(first.id, "no", 2)), 0);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED).data, padded("no", 148));

  ask();
  const Seen second = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(second.data, padded("", 56)) << "even if the peer sent none";
  rdma_conn_param reply = parameters("yes");
  EXPECT_EQ(error_of(rdma_accept(second.id, &reply)), 0);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_CONNECT_RESPONSE).data, padded("yes", 196));
}

TEST_F(Establishment, Fact02ConnectingWith57BytesIsEinvalAndWith56WorksAfterwards) {
  server.listen(kServer);
  rdma_cm_id* id = client.routed(kServer);
  rdma_conn_param param = parameters(long_data);
  param.private_data_len = 57;

  EXPECT_EQ(error_of(rdma_connect(id, &param)), EINVAL);

  param.private_data_len = 56;
  EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
  EXPECT_EQ(server.take(RDMA_CM_EVENT_CONNECT_REQUEST).data, padded(long_data, 56));
}

TEST_F(Establishment, Fact03AcceptingWith197BytesIsEinvalAndRejectsTheRequest) {
  server.listen(kServer);
  ask();
  rdma_cm_id* request = server.take_request();
  rdma_conn_param param = parameters(long_data);
  param.private_data_len = 197;

  EXPECT_EQ(error_of(rdma_accept(request, &param)), EINVAL);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).data, padded("", 148));
  param.private_data_len = 196;
  EXPECT_EQ(error_of(rdma_accept(request, &param)), EINVAL) << "too late";
}

TEST_F(Establishment, Fact04RejectingWith149BytesIsEinvalAndSendsNothing) {
  server.listen(kServer);
  ask();
  rdma_cm_id* request = server.take_request();

  EXPECT_EQ(error_of(rdma_reject(request, long_data.data(), 149)), EINVAL);

  pass(1s);
  EXPECT_THAT(sent("server", "REJ"), IsEmpty());
  EXPECT_EQ(error_of(rdma_reject(request, long_data.data(), 148)), 0);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).data, padded(long_data, 148));
}

TEST_F(Establishment, Fact05DepthsAreSwappedOnDeliveryAndTheServersNumbersCount) {
  server.listen(kServer);
  rdma_cm_id* active = client.routed(kServer);
  Party::make_qp(active);
  rdma_conn_param asked = parameters("", 3, 5);
  EXPECT_EQ(error_of(rdma_connect(active, &asked)), 0);
  const Seen request = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(request.conn.responder_resources, 5);
  EXPECT_EQ(request.conn.initiator_depth, 3);

  Party::make_qp(request.id);
  rdma_conn_param granted = parameters("", 7, 6);
  EXPECT_EQ(error_of(rdma_accept(request.id, &granted)), 0);
  const Seen established = client.take(RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(established.conn.responder_resources, 6);
  EXPECT_EQ(established.conn.initiator_depth, 7);
  EXPECT_EQ(Party::query_qp(active).max_dest_rd_atomic, 6) << "not min(3, 6)";
  EXPECT_EQ(Party::query_qp(active).max_rd_atomic, 7) << "not min(5, 7)";
  EXPECT_EQ(Party::query_qp(request.id).max_dest_rd_atomic, 7);
  EXPECT_EQ(Party::query_qp(request.id).max_rd_atomic, 6);
}

TEST_F(Establishment, Fact06TheClientCompletesTheHandshakeOnlyWhenItFetchesTheEvent) {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);

  server.expect_silence(200s);

  EXPECT_THAT(sent("client", "RTU"), IsEmpty());
  const std::vector<Instant> replies = sent("server", "REP");
  ASSERT_GE(replies.size(), 4u);
  EXPECT_NEAR(seconds(replies[1] - replies[0]), 4.15, 0.01);
  EXPECT_NEAR(seconds(replies[2] - replies[1]), 68, 2) << "the repetition was answered by an MRA";
  EXPECT_THAT(sent("client", "MRA"), SizeIs(replies.size() - 1));

  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
}

TEST_F(Establishment, Fact07AQpHidesTheResponseAndWithoutOneTheActiveSideIsNeverEstablished) {
  half_connect();  // with QPs: takes ESTABLISHED for its first event
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  rdma_cm_id* bare = ask();
  accept(server.take_request());
  client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
  EXPECT_EQ(error_of(rdma_establish(bare)), 0);
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  client.expect_silence();
}

TEST_F(Establishment, Fact08PassiveEstablishedCarriesNothing) {
  half_connect();

  const Seen seen = server.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_EQ(seen.conn.private_data, nullptr);
  EXPECT_EQ(seen.conn.private_data_len, 0);
  EXPECT_EQ(seen.conn.responder_resources, 0);
  EXPECT_EQ(seen.conn.initiator_depth, 0);
  EXPECT_EQ(seen.conn.flow_control, 0);
  EXPECT_EQ(seen.conn.retry_count, 0);
  EXPECT_EQ(seen.conn.rnr_retry_count, 0);
  EXPECT_EQ(seen.conn.srq, 0);
  EXPECT_EQ(seen.conn.qp_num, 0u);
}

TEST_F(Establishment, Fact09ThePassiveQpReceivesBeforeEstablished) {
  plan("on client->server RTU 1: lose");
  const Connection connection = request();
  char text[16] = {};
  char message[16] = "early";
  ibv_mr* room = rdma_reg_msgs(connection.passive, text, sizeof text);
  ibv_mr* said = rdma_reg_msgs(connection.active, message, sizeof message);
  EXPECT_EQ(rdma_post_recv(connection.passive, nullptr, text, sizeof text, room), 0);
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  EXPECT_EQ(Party::qp_state(connection.passive), IBV_QPS_RTS) << "before the REP has arrived";

  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  EXPECT_EQ(rdma_post_send(connection.active, nullptr, message, sizeof message, said, 0), 0);
  ibv_wc completion{};
  EXPECT_EQ(rdma_get_recv_comp(connection.passive, &completion), 1);

  EXPECT_STREQ(text, "early");
  EXPECT_LT(world.now(), Instant(1s)) << "the next RTU goes with the next REP";
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  EXPECT_EQ(rdma_dereg_mr(room), 0);
  EXPECT_EQ(rdma_dereg_mr(said), 0);
}

TEST_F(Establishment, Fact10NotifyEstablishesOnce) {
  plan("on client->server RTU 1: lose");
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_notify(connection.passive, IBV_EVENT_COMM_EST)), EINVAL)
      << "not accepted";
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_EQ(error_of(rdma_notify(connection.passive, IBV_EVENT_COMM_EST)), 0);

  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  EXPECT_EQ(error_of(rdma_notify(connection.passive, IBV_EVENT_COMM_EST)), EISCONN);
  server.expect_silence();
}

TEST_F(Establishment, Fact10TheRtuAfterANotifyGivesNoSecondEstablished) {
  const Connection connection = half_connect();  // the RTU is on its way
  EXPECT_EQ(error_of(rdma_notify(connection.passive, IBV_EVENT_COMM_EST)), 0);

  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  server.expect_silence();
  EXPECT_THAT(sent("client", "RTU"), SizeIs(1));
}

TEST_F(Establishment, Fact11ADisconnectBeforeTheRtuGivesDisconnectedWithoutEstablished) {
  plan("on client->server RTU all: lose");
  const Connection connection = half_connect();

  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);

  server.take(RDMA_CM_EVENT_DISCONNECTED, 0);
  server.expect_silence();
}

/// How long the passive side waits for an RTU that never comes.
double patience_for_the_rtu(const ibcm::Profile& profile) {
  Pair pair(profile);
  pair.plan("on client->server RTU all: lose");
  pair.half_connect();
  const Instant accepted = pair.world.now();
  pair.server.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  return seconds(pair.world.now() - accepted);
}

// 16 REPs, 4.096 s apart; Linux 6.1 adds the roundings of its timer wheel.
TEST(EstablishmentTime, Fact12ThePassiveSideGivesUpOnTheRtuAfter65Seconds) {
  EXPECT_NEAR(patience_for_the_rtu(ibcm::kLinux617), 65.536, 0.001);
  EXPECT_NEAR(patience_for_the_rtu(ibcm::kLinux61), 69.4, 0.1);
}

TEST_F(Establishment, Fact13NoListenerIsStatus8AndAnotherAddressIsStatus28) {
  ask(kServer);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kInvalidServiceId).data, padded("", 148));

  server.listen(kServersOther);
  ask(kServer);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).data, padded("", 148));
}

/// When the second of two requests comes through to a listener with room for one, if the first is
/// fetched, but not accepted, after a second.
double second_request_through(const ibcm::Profile& profile) {
  Pair pair(profile);
  pair.server.listen(Pair::kServer, 1);
  for (int i = 0; i < 2; ++i) {
    rdma_cm_id* id = pair.client.routed(Pair::kServer);
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
  }
  const Instant asked = pair.world.now();
  pair.pass(1s);
  pair.server.take_request();
  pair.server.take_request();
  EXPECT_THAT(pair.sent("server", "REJ"), IsEmpty());
  return seconds(pair.world.now() - asked);
}

TEST(EstablishmentTime, Fact14AFullBacklogIsSilentAndTheRetransmissionComesThrough) {
  EXPECT_NEAR(second_request_through(ibcm::kLinux617), 4.608, 0.001);
  EXPECT_NEAR(second_request_through(ibcm::kLinux61), 6.2, 0.11);  // 6.306 s were measured
}

TEST_F(Establishment, Fact14TheSlotIsFreeOnceTheRequestIsFetched) {
  server.listen(kServer, 1);
  ask();
  server.take_request();  // neither accepted nor rejected

  ask();

  server.take_request();
  EXPECT_THAT(sent("client", "REQ"), SizeIs(2)) << "the second came through at once";
}

class Backlog : public Establishment, public ::testing::WithParamInterface<int> {};

TEST_P(Backlog, Fact15OfZeroOrLessMeans1024) {
  server.listen(kServer, GetParam());
  for (int i = 0; i < 1025; ++i) ask();
  pass(1s);

  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(server.take(RDMA_CM_EVENT_CONNECT_REQUEST).when, world.now());
  }

  const Instant fetched = world.now();
  server.take_request();
  EXPECT_GT(world.now() - fetched, 1s) << "the 1025th had to ask again";
}

INSTANTIATE_TEST_SUITE_P(Values, Backlog, ::testing::Values(0, -1));

/// How long a client waits for a server that fetches the request and does nothing.
double patience_for_the_reply(const ibcm::Profile& profile) {
  Pair pair(profile);
  pair.request();
  const Instant asked = pair.world.now();
  pair.client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  EXPECT_THAT(pair.sent("client", "REQ"), SizeIs(16));
  EXPECT_THAT(pair.sent("server", "MRA"), SizeIs(15));
  return seconds(pair.world.now() - asked);
}

TEST(EstablishmentTime, Fact16ARequestThatNobodyAnswersKeepsTheClientWaitingFor995Seconds) {
  EXPECT_NEAR(patience_for_the_reply(ibcm::kLinux617), 995.328, 0.01);
  EXPECT_NEAR(patience_for_the_reply(ibcm::kLinux61), 1049, 1) << "lifetime 18, and the wheel";
}

TEST_F(Establishment, Fact17ARejectedIdCannotConnectAgainButANewOneCan) {
  rdma_cm_id* id = ask();
  client.take(RDMA_CM_EVENT_REJECTED, kInvalidServiceId);
  server.listen(kServer);
  rdma_conn_param param = parameters();

  EXPECT_EQ(error_of(rdma_connect(id, &param)), EINVAL);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), EINVAL);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), EINVAL);

  ask();
  server.take_request();
}

TEST_F(Establishment, Fact17AnUnreachableIdCannotConnectAgain) {
  plan("on client->server REQ all: lose");
  rdma_cm_id* id = ask();
  client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  rdma_conn_param param = parameters();

  EXPECT_EQ(error_of(rdma_connect(id, &param)), EINVAL);
}

TEST_F(Establishment, Fact18AnAbortBeforeTheAcceptIsInvisible) {
  server.listen(kServer);
  rdma_cm_id* id = ask();
  rdma_cm_id* request = server.take_request();

  client.destroy(id);

  server.expect_silence();
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {1, 1, 1, 1, 0};
  EXPECT_EQ(error_of(rdma_create_qp(request, nullptr, &attr)), EINVAL);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_accept(request, &param)), EINVAL);
  server.expect_silence();
}

TEST_F(Establishment, Fact19AnAbortThatDidNotSeeTheReplyIsRejected4) {
  plan("on server->client REP 1: lose");
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  pass(1s);

  client.destroy(connection.active);

  constexpr int kTimeout = 4;
  EXPECT_EQ(server.take(RDMA_CM_EVENT_REJECTED, kTimeout).data.size(), 148u);
}

TEST_F(Establishment, Fact19AnAbortThatHadTheReplyIsRejected28) {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  pass(1s);  // the REP is there, but not fetched

  client.destroy(connection.active);

  EXPECT_EQ(server.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).data.size(), 148u);
}

TEST_F(Establishment, Fact20AServerThatDestroysAtOnceRejectsWhomItAccepted) {
  const Connection connection = half_connect();  // the RTU is on its way

  server.destroy(connection.passive);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).data.size(), 148u);
  EXPECT_EQ(Party::qp_state(connection.active), IBV_QPS_ERR);
  client.expect_silence();
}

TEST_F(Establishment, Fact21ALostRejIsNotRepeatedAndTheNextReqIsANewRequest) {
  plan("on server->client REJ 1: lose");
  server.listen(kServer);
  rdma_cm_id* active = ask();
  rdma_cm_id* first = server.take_request();
  EXPECT_EQ(error_of(rdma_reject(first, nullptr, 0)), 0);

  rdma_cm_id* second = server.take_request();

  EXPECT_NE(second, first);
  EXPECT_THAT(sent("server", "REJ"), SizeIs(1));
  accept(second);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_CONNECT_RESPONSE).id, active);
}

TEST_F(Establishment, Fact22ResourceLimitsAreCheckedForTheTcpPortSpaceOnly) {
  rdma_cm_id* tcp = client.routed(kServer);
  rdma_cm_id* ib = client.routed(kServer, RDMA_PS_IB);
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(tcp->verbs, &device), 0);
  ASSERT_LT(device.max_qp_rd_atom, 200);
  rdma_conn_param param = parameters("", 200, 0);

  EXPECT_EQ(error_of(rdma_connect(tcp, &param)), EINVAL);
  EXPECT_EQ(error_of(rdma_connect(ib, &param)), 0);
  param.responder_resources = RDMA_MAX_RESP_RES;
  EXPECT_EQ(error_of(rdma_connect(tcp, &param)), 0) << "0xff is not a number";
}

TEST_F(Establishment, Fact23AConnectErrorSwallowsTheRejectionThatFollows) {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;  // so that the library cannot bring it up
  EXPECT_EQ(ibv_modify_qp(connection.active->qp, &attr, IBV_QP_STATE), 0);
  client.take(RDMA_CM_EVENT_CONNECT_ERROR, -1);

  server.destroy(connection.passive);  // REJ

  client.expect_silence();
  EXPECT_THAT(sent("server", "REJ"), SizeIs(1));
}

}  // namespace
}  // namespace anyrdma::semantics
