// Service resolution between two agents: the question, its answers, losses and repetitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/ibcm/testing/pair.h"
#include "transport/ibcm/wire/captured_frames.h"
#include "transport/ibcm/wire/lap.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"

namespace anyrdma::ibcm {
namespace {

using testing::Heard;
using testing::InFlight;
using testing::Pair;
using verbs::Duration;
using wire::Attribute;

constexpr std::array<std::uint8_t, 3> kData{'u', 'd', 'p'};

CommId question_of(const Pair& pair) {
  return pair.server.last(UpcallKind::kSidrReqReceived).id;
}

void answer(Pair& pair, const SidrRepParameters& reply = Pair::answer()) {
  pair.server.agent().send_sidr_rep(pair.now, question_of(pair), reply).value();
  pair.settle();
}

bool is_request(const InFlight& flight) {
  return flight.attribute() == Attribute::kSidrReq;
}

TEST(AgentDatagram, AQuestionAndItsAnswerCarryWhatTheirUsersSaid) {
  Pair pair;
  SidrReqParameters question = pair.question();
  question.private_data = kData;
  const CommId asked = pair.client.agent().send_sidr_req(pair.now, question).value();
  pair.settle();

  const Heard& request = pair.server.last(UpcallKind::kSidrReqReceived);
  EXPECT_EQ(request.upcall.service_id, Pair::kService);
  EXPECT_EQ(request.upcall.req.path.destination, pair.question().path.source);
  ASSERT_EQ(request.data.size(), wire::kSidrReqPrivateDataSize);
  EXPECT_EQ(request.data[2], 'p');

  SidrRepParameters reply = Pair::answer();
  reply.private_data = kData;
  answer(pair, reply);

  const Heard& heard = pair.client.last(UpcallKind::kSidrRepReceived);
  EXPECT_EQ(heard.id, asked);
  EXPECT_EQ(heard.upcall.sidr.status, kSidrSuccess);
  EXPECT_EQ(heard.upcall.sidr.qpn, Qpn{0x14});
  EXPECT_EQ(heard.upcall.sidr.qkey, 0x01234567u);
  ASSERT_EQ(heard.data.size(), wire::kSidrRepPrivateDataSize);
  EXPECT_EQ(heard.data[0], 'u');
  EXPECT_EQ(pair.client.state(asked), State::kIdle);
  EXPECT_EQ(pair.server.state(question_of(pair)), State::kIdle);
}

TEST(AgentDatagram, MessagesNameOneExchangeAsLinuxDoes) {
  Pair pair;
  pair.ask();
  answer(pair);

  const auto request = wire::SidrReq::parse(pair.last(Attribute::kSidrReq).bytes).value();
  const auto reply = wire::SidrRep::parse(pair.last(Attribute::kSidrRep).bytes).value();
  EXPECT_EQ(request.request_id, pair.client_id);
  EXPECT_EQ(request.partition_key, 0xffff);
  EXPECT_EQ(reply.request_id, request.request_id);
  EXPECT_EQ(reply.transaction_id, request.transaction_id);
  EXPECT_EQ(reply.service_id, request.service_id);
}

TEST(AgentDatagram, SixteenQuestionsGoOutBeforeTheUserHearsOfSilence) {
  Pair pair(kLinux617);  // exact timers
  pair.passes = [](const InFlight&) { return false; };
  pair.ask();

  pair.advance(std::chrono::milliseconds(65'535));
  EXPECT_EQ(pair.count(Attribute::kSidrReq), 16u);
  EXPECT_TRUE(pair.client.heard.empty());

  pair.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(pair.client.story(), "sidr req error");
  EXPECT_EQ(pair.count(Attribute::kSidrReq), 16u);
  EXPECT_EQ(pair.sent[1].at - pair.sent[0].at, Duration(std::chrono::milliseconds(4096)));
  EXPECT_EQ(pair.client.agent().next_deadline(), std::nullopt);
}

TEST(AgentDatagram, ARepetitionBeforeTheAnswerIsDroppedAndNeverDelayed) {
  Pair pair;
  pair.ask();

  pair.advance(std::chrono::seconds(10));

  EXPECT_GE(pair.count(Attribute::kSidrReq), 3u);
  EXPECT_EQ(pair.server.count(UpcallKind::kSidrReqReceived), 1u);
  ASSERT_FALSE(pair.server.dropped.empty());
  EXPECT_EQ(pair.server.dropped.front().reason, DropReason::kDuplicate);
  EXPECT_EQ(pair.server.dropped.front().attribute, 0x17);
  EXPECT_EQ(pair.count(Attribute::kMra), 0u);
}

TEST(AgentDatagram, ARepetitionAfterTheAnswerIsANewRequest) {
  Pair pair;
  pair.ask();
  pair.passes = is_request;  // the answer is lost
  answer(pair);

  pair.advance(std::chrono::seconds(5));

  EXPECT_EQ(pair.server.count(UpcallKind::kSidrReqReceived), 2u);
  pair.passes = nullptr;
  answer(pair);
  EXPECT_EQ(pair.client.story(), "sidr rep received");
}

TEST(AgentDatagram, TheSameRequestIdOfTwoSendersIsTwoRequests) {
  Pair pair;
  std::array<std::uint8_t, kMadBytes> mad;
  wire::SidrReq{.request_id = CommId{7}, .service_id = Pair::kService}.serialize(mad);
  Path from = pair.question().path;

  pair.server.agent().on_mad(pair.now, from, mad);
  from.destination.back() = 77;
  pair.server.agent().on_mad(pair.now, from, mad);
  pair.collect();

  EXPECT_EQ(pair.server.count(UpcallKind::kSidrReqReceived), 2u);
}

TEST(AgentDatagram, AServiceThatNobodyListensToIsUnsupported) {
  Pair pair;
  pair.server.agent().unlisten(Pair::kService);

  pair.ask();

  EXPECT_EQ(pair.client.story(), "sidr rep received");
  EXPECT_EQ(pair.client.heard[0].upcall.sidr.status, kSidrUnsupported);
  EXPECT_TRUE(pair.server.heard.empty());
}

TEST(AgentDatagram, AFullBacklogRejects) {
  Pair pair;
  pair.server.takes_requests = false;
  pair.ask();

  pair.server.agent().request_handled(question_of(pair), false);
  pair.settle();

  EXPECT_EQ(pair.client.last(UpcallKind::kSidrRepReceived).upcall.sidr.status, kSidrReject);
  EXPECT_FALSE(pair.server.agent().info(question_of(pair)));
}

TEST(AgentDatagram, DestroyingAnUnansweredRequestRejects) {
  Pair pair;
  pair.ask();

  pair.server.agent().destroy(pair.now, question_of(pair));
  pair.settle();

  const Heard& heard = pair.client.last(UpcallKind::kSidrRepReceived);
  EXPECT_EQ(heard.upcall.sidr.status, kSidrReject);
  EXPECT_EQ(heard.upcall.sidr.qpn, Qpn{});
  EXPECT_EQ(heard.upcall.sidr.qkey, 0u);
}

TEST(AgentDatagram, DestroyingTheAskerSaysNothingAndIgnoresTheAnswer) {
  Pair pair;
  pair.ask();
  pair.client.agent().destroy(pair.now, pair.client_id);
  const std::size_t sent = pair.sent.size();
  pair.settle();
  EXPECT_EQ(pair.sent.size(), sent);

  answer(pair);

  EXPECT_TRUE(pair.client.heard.empty());
  EXPECT_EQ(pair.client.dropped.back().reason, DropReason::kUnknownId);
}

TEST(AgentDatagram, AnAnswerWithAnyStatusEndsTheQuestion) {
  Pair pair;
  pair.ask();

  answer(pair, {.status = 5});

  EXPECT_EQ(pair.client.last(UpcallKind::kSidrRepReceived).upcall.sidr.status, 5);
  EXPECT_EQ(pair.client.agent().next_deadline(), std::nullopt);
}

TEST(AgentDatagram, DataThatDoesNotFitIsRefusedAndNothingIsSent) {
  Pair pair;
  const std::vector<std::uint8_t> data(wire::kSidrReqPrivateDataSize + 1);
  SidrReqParameters question = pair.question();
  question.private_data = data;
  EXPECT_EQ(pair.client.agent().send_sidr_req(pair.now, question).error(),
            verbs::errno_code(EINVAL));
  pair.settle();
  EXPECT_TRUE(pair.sent.empty());

  pair.ask();
  SidrRepParameters reply = Pair::answer();
  reply.private_data = std::span(data).first(wire::kSidrRepPrivateDataSize + 1);
  EXPECT_EQ(pair.server.agent().send_sidr_rep(pair.now, question_of(pair), reply).error(),
            verbs::errno_code(EINVAL));
  pair.settle();
  EXPECT_EQ(pair.count(Attribute::kSidrRep), 0u);
  answer(pair);  // still possible
}

TEST(AgentDatagram, ASecondAnswerIsRefused) {
  Pair pair;
  pair.ask();
  answer(pair);

  EXPECT_EQ(pair.server.agent().send_sidr_rep(pair.now, question_of(pair), Pair::answer()).error(),
            verbs::errno_code(EINVAL));
}

// --- enhanced connection establishment, and what Linux ignores on RoCE ---------------------------

constexpr Ece kEce{.vendor_id = 0x8015b3, .options = 0x80000001};

TEST(AgentEce, BothSidesHearTheOthersOptions) {
  Pair pair;
  ReqParameters request = pair.request();
  request.ece = kEce;
  pair.client_id = pair.client.agent().connect(pair.now, request).value();
  pair.settle();
  EXPECT_EQ(pair.server.last(UpcallKind::kReqReceived).upcall.req.ece, kEce);

  RepParameters reply = Pair::reply();
  reply.ece = {.vendor_id = 0x15b3, .options = 7};
  pair.server.agent()
      .send_rep(pair.now, pair.server.last(UpcallKind::kReqReceived).id, reply)
      .value();
  pair.settle();
  EXPECT_EQ(pair.client.last(UpcallKind::kRepReceived).upcall.rep.ece, reply.ece);
}

TEST(AgentEce, TravelsInTheReservedBytesAndTheAttributeModifier) {
  Pair pair;
  ReqParameters request = pair.request();
  request.ece = kEce;
  (void)pair.client.agent().connect(pair.now, request).value();
  pair.collect();

  const auto& mad = pair.last(Attribute::kReq).bytes;
  EXPECT_EQ(std::vector(mad.begin() + 20, mad.begin() + 24),
            (std::vector<std::uint8_t>{0x80, 0, 0, 1}));
  EXPECT_EQ(std::vector(mad.begin() + 24 + 5, mad.begin() + 24 + 8),
            (std::vector<std::uint8_t>{0x80, 0x15, 0xb3}));
}

TEST(AgentEce, AServiceResolutionAnswersWithOptionsToo) {
  Pair pair;
  pair.ask();
  SidrRepParameters reply = Pair::answer();
  reply.ece = kEce;

  answer(pair, reply);

  EXPECT_EQ(pair.client.last(UpcallKind::kSidrRepReceived).upcall.sidr.ece, kEce);
}

TEST(AgentPathMigration, ALoadAlternatePathIsDroppedAsUnsupportedOnRoce) {
  Pair pair;
  pair.connected();

  pair.inject_message(pair.server, wire::Lap{.local_comm_id = pair.client_id,
                                             .remote_comm_id = pair.server_id,
                                             .remote_qpn = Qpn{0x11}});

  ASSERT_EQ(pair.server.dropped.size(), 1u);
  EXPECT_EQ(pair.server.dropped[0].reason, DropReason::kUnsupported);
  EXPECT_EQ(pair.server.dropped[0].attribute, 0x19);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
}

}  // namespace
}  // namespace anyrdma::ibcm
