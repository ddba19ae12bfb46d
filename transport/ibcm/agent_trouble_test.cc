// What the network and the peer can do to a connection (cm.c:cm_dup_req_handler and its
// siblings).
#include <gtest/gtest.h>

#include "transport/ibcm/testing/cells.h"
#include "transport/ibcm/testing/pair.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"

namespace anyrdma::ibcm {
namespace {

using namespace std::chrono_literals;
using testing::InFlight;
using testing::Pair;
using testing::Subject;
using wire::Attribute;

/// Loses the first `n` messages of a kind.
void lose_first(Pair& pair, Attribute attribute, int n = 1) {
  pair.passes = [attribute, n](const InFlight& flight) mutable {
    return flight.attribute() != attribute || n-- <= 0;
  };
}

template <class Message>
Message sent_message(const Pair& pair, Attribute attribute) {
  return Message::parse(pair.last(attribute).bytes).value();
}

TEST(AgentTrouble, ALostReqIsHealedByItsRepetition) {
  Pair pair;
  lose_first(pair, Attribute::kReq);
  pair.connect();

  pair.advance(7s);

  EXPECT_EQ(pair.server.count(UpcallKind::kReqReceived), 1u);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kReqSent);
}

TEST(AgentTrouble, ALostRepIsHealedByItsOwnTimer) {
  Pair pair;
  pair.connect();
  lose_first(pair, Attribute::kRep);
  pair.accept();

  pair.advance(5s);
  pair.establish();

  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
  EXPECT_EQ(pair.count(Attribute::kRep), 2u);
}

TEST(AgentTrouble, ALostRtuIsSentAgainForTheRepeatedRep) {
  Pair pair(kLinux617);
  pair.connect();
  pair.accept();
  lose_first(pair, Attribute::kRtu);
  pair.establish();
  EXPECT_EQ(pair.server.state(pair.server_id), State::kRepSent);

  pair.advance(4096ms);

  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
  EXPECT_EQ(pair.count(Attribute::kRtu), 2u);
  EXPECT_EQ(pair.client.story(), "rep received");
}

TEST(AgentTrouble, ALostRejMakesTheRepetitionANewRequest) {
  Pair pair;
  pair.connect();
  lose_first(pair, Attribute::kRej);
  const CommId first = pair.server.last(UpcallKind::kReqReceived).id;
  pair.server.agent().send_rej(pair.now, first, kRejConsumerDefined, {}).value();
  pair.settle();

  pair.advance(7s);

  EXPECT_EQ(pair.server.count(UpcallKind::kReqReceived), 2u);
  EXPECT_NE(pair.server.last(UpcallKind::kReqReceived).id, first);
}

TEST(AgentTrouble, ARequestForNobodyIsRejectedWithReason8) {
  Pair pair;
  pair.server.agent().unlisten(Pair::kService);

  pair.connect();

  const auto& rej = pair.client.last(UpcallKind::kRejReceived);
  EXPECT_EQ(rej.upcall.reject_reason, kRejInvalidServiceId);
  EXPECT_EQ(rej.data, std::vector<std::uint8_t>(148));
  EXPECT_EQ(pair.client.state(pair.client_id), State::kIdle);
  EXPECT_TRUE(pair.server.heard.empty());
}

TEST(AgentTrouble, ListenersAreCounted) {
  Pair pair;
  pair.server.agent().listen(Pair::kService);
  pair.server.agent().unlisten(Pair::kService);

  pair.connect();

  EXPECT_EQ(pair.server.count(UpcallKind::kReqReceived), 1u);
}

TEST(AgentTrouble, ADroppedRequestIsNewWhenItComesAgain) {
  Pair pair;
  pair.server.takes_requests = false;
  pair.connect();
  const CommId first = pair.server.last(UpcallKind::kReqReceived).id;
  pair.server.agent().request_handled(first, false);
  pair.settle();
  EXPECT_EQ(pair.count(Attribute::kRej), 0u);
  EXPECT_FALSE(pair.server.agent().info(first));

  pair.server.takes_requests = true;
  pair.advance(7s);

  EXPECT_EQ(pair.server.count(UpcallKind::kReqReceived), 2u);
}

// The REQ of a client that has forgotten its old connection: same QPN, another comm id.
TEST(AgentTrouble, AStaleConnectionIsReleasedAndTheNewOneRejected) {
  Pair pair;
  pair.connected(0x12, 0x11);
  const CommId old_client = pair.client_id;

  pair.connect(0x12);

  EXPECT_EQ(pair.client.last(UpcallKind::kRejReceived).upcall.reject_reason, kRejStaleConnection);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kTimewait);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kDreqSent);
  EXPECT_EQ(pair.client.last(UpcallKind::kDreqReceived).id, old_client);
}

// A REP naming a QPN that the client knows as another connection's: the REQ itself hears nothing.
TEST(AgentTrouble, AStaleConnectionFoundByTheRepIsNotTheRequestsBusiness) {
  Pair pair;
  pair.connected(0x12, 0x11);
  const CommId old_client = pair.client_id;
  pair.connect(0x13);

  pair.accept(0x11);

  EXPECT_EQ(pair.client.state(old_client), State::kDreqSent);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kReqSent);
  EXPECT_EQ(pair.client.count(UpcallKind::kRepReceived), 1u);
  const auto rej = sent_message<wire::Rej>(pair, Attribute::kRej);
  EXPECT_EQ(rej.reason, kRejStaleConnection);
  EXPECT_EQ(rej.message, wire::AnsweredMessage::kRep);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kTimewait);
  EXPECT_TRUE(pair.client.agent().next_deadline());
}

TEST(AgentTrouble, ThePeersQpnIsFreeAsSoonAsTimewaitBegins) {
  Pair pair;
  pair.connected(0x12, 0x11);
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();
  pair.server.agent().send_drep(pair.now, pair.server_id).value();
  pair.settle();

  pair.connected(0x12, 0x21);

  EXPECT_EQ(pair.client.count(UpcallKind::kRejReceived), 0u);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
}

TEST(AgentTrouble, ADreqThatOvertakesTheRtuDisconnectsWithoutEstablishing) {
  Pair pair;
  pair.connect();
  pair.accept();
  lose_first(pair, Attribute::kRtu);
  pair.establish();

  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();

  EXPECT_EQ(pair.server.story(), "req received, dreq received");
}

TEST(AgentTrouble, ADreqForTheWrongQpIsDropped) {
  Pair pair;
  pair.connected();

  pair.inject_message(pair.server, wire::Dreq{.local_comm_id = pair.client_id,
                                              .remote_comm_id = pair.server_id,
                                              .remote_qpn = Qpn{0x99}});

  ASSERT_EQ(pair.server.dropped.size(), 1u);
  EXPECT_EQ(pair.server.dropped[0].reason, DropReason::kWrongQpn);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
}

TEST(AgentTrouble, ADreqForAnUnknownIdIsAnsweredWithoutState) {
  Pair pair;

  pair.inject_message(pair.server, wire::Dreq{.transaction_id = 0x0000000512345678,
                                              .local_comm_id = CommId{0x0c},
                                              .remote_comm_id = CommId{0x0d},
                                              .remote_qpn = Qpn{1}});

  const auto drep = sent_message<wire::Drep>(pair, Attribute::kDrep);
  EXPECT_EQ(drep.transaction_id, 0x0000000512345678u);
  EXPECT_EQ(drep.local_comm_id, CommId{0x0d});
  EXPECT_EQ(drep.remote_comm_id, CommId{0x0c});
}

TEST(AgentTrouble, CrossingDreqsDisconnectBothOnceAndWaitForTheUsers) {
  Pair pair;
  pair.connected();
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.server.agent().send_dreq(pair.now, pair.server_id).value();
  pair.settle();
  EXPECT_EQ(pair.client.state(pair.client_id), State::kDreqRcvd);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kDreqRcvd);
  pair.advance(200s);
  EXPECT_EQ(pair.count(Attribute::kDrep), 0u);
  EXPECT_EQ(pair.count(Attribute::kDreq), 2u);

  pair.client.agent().send_drep(pair.now, pair.client_id).value();
  pair.advance(3s);

  EXPECT_EQ(pair.client.story(), "rep received, dreq received, timewait exit");
  EXPECT_EQ(pair.server.story(),
            "req received, rtu received, dreq received, drep received, timewait exit");
}

TEST(AgentTrouble, ALostDrepIsSentAgainWhileTimewaitLasts) {
  Pair pair;
  pair.connected();
  lose_first(pair, Attribute::kDrep);
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();
  const auto dreq = pair.last(Attribute::kDreq).bytes;
  pair.server.agent().send_drep(pair.now, pair.server_id).value();
  pair.settle();

  pair.inject(pair.server, dreq);
  pair.settle();

  EXPECT_EQ(pair.client.state(pair.client_id), State::kTimewait);
  EXPECT_EQ(pair.count(Attribute::kDrep), 2u);
}

// Subtle behaviour 29: the retry comes after the responder's timewait.
TEST(AgentTrouble, ALostDrepCostsTheWholeTimeoutIfTheResponderKeepsItsId) {
  Pair pair;
  pair.connected();
  lose_first(pair, Attribute::kDrep);
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();
  pair.server.agent().send_drep(pair.now, pair.server_id).value();

  pair.advance(200s);

  EXPECT_EQ(pair.client.story(), "rep received, dreq error, timewait exit");
  EXPECT_EQ(pair.count(Attribute::kDreq), 16u);
}

TEST(AgentTrouble, ALostDrepIsHealedByTheFirstRetryIfTheResponderIsGone) {
  Pair pair;
  pair.connected();
  lose_first(pair, Attribute::kDrep);
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();
  pair.server.agent().destroy(pair.now, pair.server_id);

  pair.advance(200s);

  EXPECT_EQ(pair.client.story(), "rep received, drep received, timewait exit");
  EXPECT_EQ(pair.count(Attribute::kDreq), 2u);
}

TEST(AgentTrouble, NotifyEstablishesOnceAndTheRtuAddsNothing) {
  Pair pair;
  pair.connect();
  pair.accept();

  EXPECT_TRUE(pair.server.agent().notify_established(pair.now, pair.server_id));
  EXPECT_EQ(pair.server.agent().notify_established(pair.now, pair.server_id).error().value(),
            EISCONN);
  pair.establish();

  EXPECT_EQ(pair.server.story(), "req received, user established");
  ASSERT_EQ(pair.server.dropped.size(), 1u);
  EXPECT_EQ(pair.server.dropped[0].reason, DropReason::kDuplicate);
}

TEST(AgentTrouble, AReasonOfStaleConnectionEndsTheHandshakeInTimewait) {
  for (const State state : {State::kReqSent, State::kMraReqRcvd, State::kRepSent}) {
    Subject s = testing::reach(state);
    const bool asking = state != State::kRepSent;
    s.pair->inject_message(*s.host, wire::Rej{.local_comm_id = asking ? CommId{} : s.peer_id,
                                              .remote_comm_id = s.id,
                                              .message = asking ? wire::AnsweredMessage::kReq
                                                                : wire::AnsweredMessage::kOther,
                                              .reason = kRejStaleConnection});
    EXPECT_EQ(s.host->state(s.id), State::kTimewait) << static_cast<int>(state);
  }
}

// A client that gives up knows its own id only; the server finds it by that and the GUID.
TEST(AgentTrouble, ARejectForTimeoutIsFoundByGuidAndSendersId) {
  Pair pair;
  pair.connect();
  pair.client.agent().destroy(pair.now, pair.client_id);
  pair.settle();

  const auto rej = sent_message<wire::Rej>(pair, Attribute::kRej);
  EXPECT_EQ(rej.reason, kRejTimeout);
  EXPECT_EQ(rej.remote_comm_id, CommId{});
  EXPECT_EQ(rej.message, wire::AnsweredMessage::kOther);
  ASSERT_EQ(rej.info.size(), 8u);
  EXPECT_EQ(rej.info[0], 0x50);
  EXPECT_EQ(rej.info[7], 0x02);
  EXPECT_EQ(pair.server.last(UpcallKind::kRejReceived).upcall.reject_reason, kRejTimeout);
}

TEST(AgentTrouble, ARejectForTimeoutFromAnotherHostFindsNothing) {
  Pair pair;
  pair.connect();
  const std::array<std::uint8_t, 8> other{1, 2, 3, 4, 5, 6, 7, 8};

  pair.inject_message(pair.server, wire::Rej{.local_comm_id = pair.client_id,
                                             .message = wire::AnsweredMessage::kOther,
                                             .reason = kRejTimeout,
                                             .info = other});

  EXPECT_EQ(pair.server.count(UpcallKind::kRejReceived), 0u);
  EXPECT_EQ(pair.server.dropped.back().reason, DropReason::kUnknownId);
}

TEST(AgentTrouble, TheSameCommIdFromAnotherHostIsAnotherRequest) {
  Pair pair;
  pair.connect();

  pair.inject_message(pair.server, wire::Req{.local_comm_id = pair.client_id,
                                             .service_id = Pair::kService,
                                             .local_ca_guid = Guid{0x77},
                                             .local_qpn = Qpn{0x12},
                                             .path_mtu = 3});

  EXPECT_EQ(pair.server.count(UpcallKind::kReqReceived), 2u);
}

TEST(AgentTrouble, ARepThatRepeatsAnIdOfThatHostIsADuplicate) {
  Pair pair;
  pair.connected();
  pair.connect(0x13);

  pair.inject_message(pair.client, wire::Rep{.local_comm_id = pair.server_id,
                                             .remote_comm_id = pair.client_id,
                                             .local_qpn = Qpn{0x55},
                                             .local_ca_guid = Guid{0x505400fffe000001u}});

  EXPECT_EQ(pair.client.dropped.back().reason, DropReason::kDuplicate);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kReqSent);
}

TEST(AgentTrouble, ARepForNobodyIsDroppedNotRejected) {
  Pair pair;

  pair.inject_message(pair.client,
                      wire::Rep{.local_comm_id = CommId{1}, .remote_comm_id = CommId{2}});

  EXPECT_TRUE(pair.sent.empty());
  EXPECT_EQ(pair.client.dropped.back().reason, DropReason::kUnknownId);
}

TEST(AgentTrouble, MalformedAndUnsupportedMessagesAreReportedWithTheirAttribute) {
  Pair pair;
  std::array<std::uint8_t, kMadBytes> mad;
  wire::MadHeader{1, Attribute::kApr}.serialize(mad);
  pair.inject(pair.server, mad);
  EXPECT_EQ(pair.server.dropped.back().reason, DropReason::kUnsupported);
  EXPECT_EQ(pair.server.dropped.back().attribute, 0x1a);

  wire::MadHeader{1, Attribute::kReq}.serialize(mad);  // comm id 0
  pair.inject(pair.server, mad);
  EXPECT_EQ(pair.server.dropped.back().reason, DropReason::kMalformed);
  EXPECT_EQ(pair.server.dropped.back().attribute, 0x10);

  mad[1] = 0x03;
  pair.inject(pair.server, mad);
  EXPECT_EQ(pair.server.dropped.back().reason, DropReason::kMalformed);

  wire::MadHeader{1, static_cast<Attribute>(0x55)}.serialize(mad);
  pair.inject(pair.server, mad);
  EXPECT_EQ(pair.server.dropped.back().reason, DropReason::kMalformed);
  EXPECT_TRUE(pair.sent.empty());
}

TEST(AgentTrouble, AVanishedPeerIsToldAsItsKernelWouldHave) {
  Pair pair;
  pair.connected(0x12, 0x11);
  const CommId established = pair.client_id;
  pair.connect(0x13);
  pair.accept(0x21);  // the client has the REP
  const CommId replied = pair.client_id;

  const std::uint32_t peer = value(pair.server_id);
  const Gid elsewhere{0xfd};
  pair.client.agent().on_peer_gone(pair.now, peer, 0xffffffff, {&elsewhere, 1});
  pair.collect();
  EXPECT_NE(pair.client.state(replied), State::kTimewait);
  const Gid there = pair.client.agent().info(replied)->path.destination;
  pair.client.agent().on_peer_gone(pair.now, peer, 0xffffffff, {&there, 1});
  pair.collect();
  EXPECT_EQ(pair.client.last(UpcallKind::kRejReceived).id, replied);
  EXPECT_EQ(pair.client.last(UpcallKind::kRejReceived).upcall.reject_reason, 28);
  EXPECT_EQ(pair.client.last(UpcallKind::kRejReceived).data.size(), 148u);
  EXPECT_EQ(pair.client.state(established), State::kEstablished);

  pair.client.agent().on_peer_gone(pair.now, 0, 0, {});  // every peer
  pair.collect();
  EXPECT_EQ(pair.client.last(UpcallKind::kDreqReceived).id, established);
  EXPECT_EQ(pair.client.state(replied), State::kTimewait);
}

TEST(AgentTrouble, AVanishedPeerIsKnownByItsMra) {
  Subject s = testing::reach(State::kMraReqRcvd);

  s.host->agent().on_peer_gone(s.pair->now, value(s.peer_id) & 0xffff0000, 0xffff0000, {});
  s.pair->collect();

  EXPECT_EQ(s.host->last(UpcallKind::kRejReceived).upcall.reject_reason, 28);
  EXPECT_EQ(s.host->state(s.id), State::kIdle);
}

TEST(AgentTrouble, AnUnansweredRequestOutlivesAVanishedPeer) {
  Subject s = testing::reach(State::kReqSent);

  s.host->agent().on_peer_gone(s.pair->now, 0, 0, {});
  s.pair->collect();

  EXPECT_TRUE(s.host->heard.empty());
  EXPECT_TRUE(s.host->agent().next_deadline());
}

}  // namespace
}  // namespace anyrdma::ibcm
