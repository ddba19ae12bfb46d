// When things happen: every wait of the protocol, to the nanosecond of virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/ibcm/testing/cells.h"
#include "transport/ibcm/testing/pair.h"

namespace anyrdma::ibcm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::InFlight;
using testing::Pair;
using testing::Subject;
using wire::Attribute;

constexpr Duration kDay = 24h;

/// When the messages of one kind were sent, counted from `start`.
std::vector<Duration> times_of(const Pair& pair, Attribute attribute, Instant start = {}) {
  std::vector<Duration> times;
  for (const Pair::Sent& mad : pair.sent)
    if (mad.attribute == attribute) times.push_back(mad.at - start);
  return times;
}

/// Runs until `host` hears `kind`; the time that took.
Duration until_heard(Pair& pair, testing::Host& host, UpcallKind kind) {
  const Instant start = pair.now;
  while (host.count(kind) == 0) {
    const auto next =
        verbs::earlier(pair.client.agent().next_deadline(), pair.server.agent().next_deadline());
    if (!next) return kDay;
    pair.advance(*next - pair.now);
  }
  return pair.now - start;
}

void lose_all(Pair& pair) {
  pair.passes = [](const InFlight&) { return false; };
}

TEST(AgentTiming, ASilentPeerIsUnreachableAfterTheMeasuredTime) {
  Pair pair(kLinux61);
  lose_all(pair);
  pair.connect();

  EXPECT_EQ(until_heard(pair, pair.client, UpcallKind::kReqError), 102200ms);

  EXPECT_EQ(pair.count(Attribute::kReq), 16u);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kIdle);
  EXPECT_FALSE(pair.client.agent().next_deadline());
}

TEST(AgentTiming, ASilentPeerIsUnreachableSoonerForTheNewerKernel) {
  Pair pair(kLinux617);
  lose_all(pair);
  pair.connect();

  EXPECT_EQ(until_heard(pair, pair.client, UpcallKind::kReqError), 73728ms);

  EXPECT_EQ(pair.count(Attribute::kReq), 16u);
}

TEST(AgentTiming, RequestsAreRepeatedOnTheWheelAfterTheFirst) {
  Pair pair(kLinux61);
  lose_all(pair);
  pair.connect();

  pair.advance(20s);

  EXPECT_THAT(times_of(pair, Attribute::kReq), ElementsAre(0ms, 6200ms, 12600ms, 19000ms));
}

TEST(AgentTiming, RequestsAreRepeatedEvenlyWhereTimersAreExact) {
  Profile exact = kLinux61;
  exact.timer_tick = 0ms;
  Pair pair(exact);
  lose_all(pair);
  pair.connect();

  pair.advance(20s);

  EXPECT_THAT(times_of(pair, Attribute::kReq), ElementsAre(0ms, 6144ms, 12288ms, 18432ms));
}

TEST(AgentTiming, EveryRepetitionIsTheSameBytes) {
  Pair pair;
  lose_all(pair);
  pair.connect();

  pair.advance(103s);

  ASSERT_EQ(pair.sent.size(), 16u);
  for (const Pair::Sent& mad : pair.sent) EXPECT_EQ(mad.bytes, pair.sent.front().bytes);
}

// The capture slow-accept-mra: REQ, REQ again (6.306 s there), MRA, REP at 15 s, RTU.
TEST(AgentTiming, AnAcceptAfterFifteenSecondsSeesOneRepetitionAndOneMra) {
  Pair pair(kLinux61);
  pair.connect();

  pair.advance(15s);
  pair.accept();
  pair.establish();

  EXPECT_THAT(times_of(pair, Attribute::kReq), ElementsAre(0ms, 6200ms));
  EXPECT_THAT(times_of(pair, Attribute::kMra), ElementsAre(6200ms));
  EXPECT_THAT(times_of(pair, Attribute::kRep), ElementsAre(15s));
  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
  EXPECT_EQ(pair.client.story(), "rep received");
}

// 4.608 + 15 * 66.048 s would be exact: ms(24) + ms(17) after the MRA.
TEST(AgentTiming, AServerThatNeverAnswersIsUnreachableAfterSixteenMinutes) {
  Pair pair(kLinux617);
  pair.connect();

  EXPECT_EQ(until_heard(pair, pair.client, UpcallKind::kReqError), 4608ms + 15 * 66048ms);

  EXPECT_EQ(pair.count(Attribute::kReq), 16u);
  EXPECT_EQ(pair.count(Attribute::kMra), 15u);
}

TEST(AgentTiming, OnlyTheFirstMraStretchesTheWait) {
  Subject s = testing::reach(State::kMraReqRcvd);
  const auto deadline = s.host->agent().next_deadline();
  s.pair->advance(1s);

  (void)testing::provoke(s, Event::kMra);

  EXPECT_EQ(s.host->agent().next_deadline(), deadline);
}

TEST(AgentTiming, AReplyIsRepeatedUntilThePassiveSideGivesUp) {
  Pair pair(kLinux617);
  pair.connect();
  const Instant start = pair.now;
  lose_all(pair);
  pair.accept();

  EXPECT_EQ(until_heard(pair, pair.server, UpcallKind::kRepError), 65536ms);

  EXPECT_EQ(pair.count(Attribute::kRep), 16u);
  EXPECT_EQ(times_of(pair, Attribute::kRep, start)[1], 4096ms);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kIdle);
}

TEST(AgentTiming, AReplyHeldByTheOtherUserIsSlowedByAnMra) {
  Pair pair(kLinux617);
  pair.connect();
  pair.accept();

  EXPECT_EQ(until_heard(pair, pair.server, UpcallKind::kRepError), 4096ms + 15 * 66048ms);

  EXPECT_EQ(pair.count(Attribute::kRep), 16u);
  EXPECT_EQ(pair.count(Attribute::kMra), 15u);
}

TEST(AgentTiming, TheActiveSidesDreqIsRepeatedLikeItsReq) {
  Pair pair(kLinux617);
  pair.connected();
  lose_all(pair);
  pair.client.agent().send_dreq(pair.now, pair.client_id).value();

  EXPECT_EQ(until_heard(pair, pair.client, UpcallKind::kDreqError), 73728ms);

  EXPECT_EQ(pair.count(Attribute::kDreq), 16u);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kTimewait);
}

TEST(AgentTiming, ThePassiveSidesDreqIsRepeatedLikeItsRep) {
  Pair pair(kLinux617);
  pair.connected();
  lose_all(pair);
  pair.server.agent().send_dreq(pair.now, pair.server_id).value();

  EXPECT_EQ(until_heard(pair, pair.server, UpcallKind::kDreqError), 65536ms);

  EXPECT_EQ(pair.count(Attribute::kDreq), 16u);
}

TEST(AgentTiming, TimewaitLastsAsLongAsTheAckTimeout) {
  struct Case {
    std::uint8_t lifetime;
    std::uint8_t ack_delay;
    Duration wait;
  };
  // Two CA delays that round differently (cm_ack_timeout), and the lifetime of linux-6.1.
  for (const Case& c : {Case{16, 15, 512ms}, Case{16, 16, 1024ms}, Case{18, 15, 2048ms}}) {
    Pair pair(kLinux617);
    ReqParameters request = pair.request();
    request.path.packet_lifetime = c.lifetime;
    request.local_ca_ack_delay = c.ack_delay;
    pair.client_id = pair.client.agent().connect(pair.now, request).value();
    pair.settle();
    pair.server_id = pair.server.last(UpcallKind::kReqReceived).id;
    RepParameters reply = Pair::reply();
    reply.target_ack_delay = c.ack_delay;
    pair.server.agent().send_rep(pair.now, pair.server_id, reply).value();
    pair.settle();
    pair.establish();
    pair.client.agent().send_dreq(pair.now, pair.client_id).value();
    pair.settle();
    pair.server.agent().send_drep(pair.now, pair.server_id).value();
    pair.settle();

    const Instant start = pair.now;
    EXPECT_EQ(until_heard(pair, pair.client, UpcallKind::kTimewaitExit), c.wait);
    EXPECT_EQ(until_heard(pair, pair.server, UpcallKind::kTimewaitExit), start + c.wait - pair.now);
  }
}

TEST(AgentTiming, OneShotMessagesLeaveNoTimerBehind) {
  for (const State state : {State::kReqRcvd, State::kMraReqSent, State::kMraRepSent,
                            State::kEstablished, State::kDreqRcvd}) {
    Subject s = testing::reach(state);
    EXPECT_FALSE(s.host->agent().next_deadline()) << static_cast<int>(state);
  }
}

TEST(AgentTiming, ALateTimerWaitsFromWhenItFired) {
  Pair pair(kLinux617);
  lose_all(pair);
  pair.connect();
  pair.now += 60s;

  pair.client.agent().on_timer(pair.now);

  EXPECT_EQ(pair.client.agent().next_deadline(), pair.now + 4608ms);
}

}  // namespace
}  // namespace anyrdma::ibcm
