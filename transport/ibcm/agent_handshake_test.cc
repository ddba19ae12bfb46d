// The life of a connection, message by message, when nothing goes wrong.
#include <gtest/gtest.h>

#include "transport/ibcm/testing/pair.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/rep.h"

namespace anyrdma::ibcm {
namespace {

using testing::Pair;

TEST(AgentHandshake, ThreeMessagesEstablishBothSides) {
  Pair pair;

  pair.connected();

  EXPECT_EQ(pair.client.state(pair.client_id), State::kEstablished);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kEstablished);
  EXPECT_EQ(pair.client.story(), "rep received");
  EXPECT_EQ(pair.server.story(), "req received, rtu received");
  EXPECT_EQ(pair.sent.size(), 3u);
  EXPECT_FALSE(pair.client.agent().next_deadline());
  EXPECT_FALSE(pair.server.agent().next_deadline());
}

TEST(AgentHandshake, ThreeMoreEndIt) {
  Pair pair;
  pair.connected();

  pair.client.agent().send_dreq(pair.now, pair.client_id).value();
  pair.settle();
  EXPECT_EQ(pair.server.state(pair.server_id), State::kDreqRcvd);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kDreqSent);
  pair.server.agent().send_drep(pair.now, pair.server_id).value();
  pair.settle();
  EXPECT_EQ(pair.server.state(pair.server_id), State::kTimewait);
  EXPECT_EQ(pair.client.state(pair.client_id), State::kTimewait);
  pair.advance(std::chrono::seconds(3));

  EXPECT_EQ(pair.client.story(), "rep received, drep received, timewait exit");
  EXPECT_EQ(pair.server.story(), "req received, rtu received, dreq received, timewait exit");
  EXPECT_EQ(pair.client.state(pair.client_id), State::kIdle);
  EXPECT_EQ(pair.server.state(pair.server_id), State::kIdle);
  EXPECT_EQ(pair.sent.size(), 5u);
}

// IBTA vol 1, 12.6.2: a response carries its request's transaction id.
TEST(AgentHandshake, TheAnswerToADisconnectNamesItsExchange) {
  Pair pair;
  pair.connected();

  pair.server.agent().send_dreq(pair.now, pair.server_id).value();
  pair.settle();
  pair.client.agent().send_drep(pair.now, pair.client_id).value();
  pair.settle();

  const auto dreq = wire::Dreq::parse(pair.last(wire::Attribute::kDreq).bytes).value();
  const auto drep = wire::Drep::parse(pair.last(wire::Attribute::kDrep).bytes).value();
  EXPECT_EQ(drep.transaction_id, dreq.transaction_id);
  const auto rep = wire::Rep::parse(pair.last(wire::Attribute::kRep).bytes).value();
  EXPECT_NE(drep.transaction_id, rep.transaction_id);
}

}  // namespace
}  // namespace anyrdma::ibcm
