// What destroying an id puts on the wire, and that nothing is heard of it afterwards: fact
// sheet 7.4.
#include <gtest/gtest.h>

#include <optional>

#include "transport/ibcm/names.h"
#include "transport/ibcm/testing/cells.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/rej.h"

namespace anyrdma::ibcm {
namespace {

using testing::Observation;
using testing::Subject;
using wire::AnsweredMessage;
using wire::Attribute;

struct ExpectedRej {
  State state;
  std::uint16_t reason;
  AnsweredMessage message;
  bool names_own_id;
};

// Reasons: 7.4. The id and the message rejected: as the captures show and cm_format_rej has it.
constexpr ExpectedRej kRejects[] = {
    {State::kReqSent, 4, AnsweredMessage::kOther, true},
    {State::kMraReqRcvd, 4, AnsweredMessage::kOther, true},
    {State::kReqRcvd, 28, AnsweredMessage::kReq, false},
    {State::kMraReqSent, 28, AnsweredMessage::kReq, true},
    {State::kMraRepSent, 28, AnsweredMessage::kRep, true},
    {State::kRepSent, 28, AnsweredMessage::kOther, true},
    {State::kMraRepRcvd, 28, AnsweredMessage::kOther, true},
};

TEST(AgentDestroy, RejectsWhatWasNotFinished) {
  for (const ExpectedRej& expected : kRejects) {
    SCOPED_TRACE(to_string(expected.state));
    Subject s = testing::reach(expected.state);

    const Observation seen = testing::provoke(s, Event::kDestroy);

    ASSERT_EQ(seen.sent, std::vector{Attribute::kRej});
    const auto rej = wire::Rej::parse(s.pair->sent.back().bytes).value();
    EXPECT_EQ(rej.reason, expected.reason);
    EXPECT_EQ(rej.message, expected.message);
    EXPECT_EQ(rej.local_comm_id, expected.names_own_id ? s.id : CommId{});
    EXPECT_EQ(rej.info.size(), expected.reason == 4 ? 8u : 0u);
  }
}

TEST(AgentDestroy, ReleasesOnceWhatWasEstablished) {
  Subject s = testing::reach(State::kEstablished);

  const Observation seen = testing::provoke(s, Event::kDestroy);

  EXPECT_EQ(seen.sent, std::vector{Attribute::kDreq});
  EXPECT_EQ(wire::Dreq::parse(s.pair->sent.back().bytes).value().remote_qpn, s.peer_qpn);
  EXPECT_FALSE(s.host->agent().next_deadline());
}

TEST(AgentDestroy, AnswersADreqThatWaits) {
  Subject s = testing::reach(State::kDreqRcvd);

  EXPECT_EQ(testing::provoke(s, Event::kDestroy).sent, std::vector{Attribute::kDrep});
}

TEST(AgentDestroy, SaysNothingWhereNothingIsOpen) {
  for (const State state : {State::kIdle, State::kDreqSent, State::kTimewait}) {
    Subject s = testing::reach(state);
    EXPECT_TRUE(testing::provoke(s, Event::kDestroy).sent.empty()) << to_string(state);
  }
}

TEST(AgentDestroy, LeavesNoTimerNoIdAndNoMemoryOfThePeer) {
  for (std::size_t i = 0; i < kStates; ++i) {
    const auto state = static_cast<State>(i);
    if (!testing::can_rest_in(state)) continue;
    SCOPED_TRACE(to_string(state));
    Subject s = testing::reach(state);

    const Observation seen = testing::provoke(s, Event::kDestroy);

    EXPECT_TRUE(seen.heard.empty());
    EXPECT_FALSE(seen.state);
    EXPECT_FALSE(s.host->agent().next_deadline());
    EXPECT_EQ(s.host->agent().send_dreq(s.pair->now, s.id).error().value(), EINVAL);
    s.host->agent().on_peer_gone(s.pair->now, 0, 0, {});
    s.pair->collect();
    EXPECT_TRUE(s.host->heard.empty());
  }
}

TEST(AgentDestroy, OfAnUnknownIdIsNothing) {
  testing::Pair pair;

  pair.client.agent().destroy(pair.now, CommId{77});

  EXPECT_EQ(pair.client.agent().next_action(), nullptr);
}

TEST(AgentDestroy, AnAgentMayGoWithConnectionsInEveryState) {
  for (std::size_t i = 0; i < kStates; ++i)
    if (testing::can_rest_in(static_cast<State>(i))) (void)testing::reach(static_cast<State>(i));
}

}  // namespace
}  // namespace anyrdma::ibcm
