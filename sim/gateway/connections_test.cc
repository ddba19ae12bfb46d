#include "sim/gateway/connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"

namespace anyrdma::sim {
namespace {

using ibcm::wire::AnsweredMessage;
using ibcm::wire::Attribute;
using ibcm::wire::Drep;
using ibcm::wire::Dreq;
using ibcm::wire::Mra;
using ibcm::wire::Rej;
using ibcm::wire::Rep;
using ibcm::wire::Req;
using ibcm::wire::Rtu;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::CommId;
using wire::Guid;
using wire::Qpn;

constexpr Slot kSlot{5};
constexpr CommId kOurs{transport::fabric::comm_id_tag(kSlot) + 1};
constexpr CommId kTheirs{0x77};
constexpr Qpn kTheirQp{0x99};

class ConnectionsTest : public ::testing::Test {
 protected:
  template <class Message>
  void sent(const Message& message) {
    message.serialize(mad);
    connections.on_sent(path, mad);
  }
  template <class Message>
  void arrived(const Message& message, Slot slot = kSlot) {
    message.serialize(mad);
    connections.on_arrived(path, mad, slot);
  }
  void ask() { sent(Req{.local_comm_id = kOurs, .local_ca_guid = Guid{0x0102030405060708}}); }
  void be_answered() {
    arrived(Rep{.local_comm_id = kTheirs, .remote_comm_id = kOurs, .local_qpn = kTheirQp});
  }
  void confirm() { sent(Rtu{.local_comm_id = kOurs, .remote_comm_id = kTheirs}); }
  void be_asked() { arrived(Req{.local_comm_id = kTheirs, .local_qpn = kTheirQp}); }
  void accept() { sent(Rep{.local_comm_id = kOurs, .remote_comm_id = kTheirs}); }
  void be_confirmed() { arrived(Rtu{.local_comm_id = kTheirs, .remote_comm_id = kOurs}); }

  /// The only farewell, which names our peer.
  Connections::Farewell farewell() {
    const auto said = connections.bury(kSlot);
    EXPECT_EQ(said.size(), 1u);
    EXPECT_EQ(connections.size(), 0u);
    if (said.empty()) return {};
    EXPECT_EQ(said.front().path, path);
    return said.front();
  }
  void expect_reject(CommId local, CommId remote, AnsweredMessage message, int reason) {
    const auto said = farewell();
    const auto rej = Rej::parse(said.mad);
    ASSERT_TRUE(rej);
    EXPECT_EQ(rej->local_comm_id, local);
    EXPECT_EQ(rej->remote_comm_id, remote);
    EXPECT_EQ(rej->message, message);
    EXPECT_EQ(rej->reason, reason);
  }
  void expect_disconnect() {
    const auto said = farewell();
    const auto dreq = Dreq::parse(said.mad);
    ASSERT_TRUE(dreq);
    EXPECT_EQ(dreq->local_comm_id, kOurs);
    EXPECT_EQ(dreq->remote_comm_id, kTheirs);
    EXPECT_EQ(dreq->remote_qpn, kTheirQp);
  }

  Connections connections;
  Connections::Path path{.source = {10, 0, 0, 1}, .destination = {10, 0, 0, 2}};
  std::array<std::uint8_t, ibcm::kMadBytes> mad{};
};

// --- what a process leaves behind at each point -------------------------------------------------

TEST_F(ConnectionsTest, OneThatWasOnlyAskedForIsGivenUpByTheAskersGuid) {
  ask();
  const auto said = farewell();
  const auto rej = Rej::parse(said.mad);
  ASSERT_TRUE(rej);
  EXPECT_EQ(rej->reason, 4);
  EXPECT_EQ(rej->local_comm_id, kOurs);
  EXPECT_THAT(rej->info, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(ConnectionsTest, OneThatHasItsAnswerIsRejected) {
  ask();
  be_answered();
  expect_reject(kOurs, kTheirs, AnsweredMessage::kRep, 28);
}

TEST_F(ConnectionsTest, OneThatWeOpenedIsDisconnected) {
  ask();
  be_answered();
  confirm();
  expect_disconnect();
}

TEST_F(ConnectionsTest, APeersRequestIsRejected) {
  be_asked();
  expect_reject(CommId{}, kTheirs, AnsweredMessage::kReq, 28);
}

TEST_F(ConnectionsTest, OneThatWeAcceptedIsRejectedUntilItIsConfirmed) {
  be_asked();
  accept();
  expect_reject(kOurs, kTheirs, AnsweredMessage::kOther, 28);
  be_asked();
  accept();
  be_confirmed();
  expect_disconnect();
}

// As the kernel has it that destroys an id in DREQ_RCVD (K/cm.c:cm_destroy_id).
TEST_F(ConnectionsTest, OneThatThePeerHasLeftIsLetGo) {
  be_asked();
  accept();
  be_confirmed();
  arrived(Dreq{.transaction_id = 9, .local_comm_id = kTheirs, .remote_comm_id = kOurs});
  const auto said = farewell();
  const auto drep = Drep::parse(said.mad);
  ASSERT_TRUE(drep);
  EXPECT_EQ(drep->transaction_id, 9u);
  EXPECT_EQ(drep->local_comm_id, kOurs);
  EXPECT_EQ(drep->remote_comm_id, kTheirs);
}

// --- ends ---------------------------------------------------------------------------------------

TEST_F(ConnectionsTest, NothingIsSaidOfWhatHasEnded) {
  const auto open = [this] {
    ask();
    be_answered();
    confirm();
  };
  open();
  sent(Dreq{.local_comm_id = kOurs, .remote_comm_id = kTheirs});
  EXPECT_EQ(connections.size(), 0u);
  open();
  arrived(Dreq{.local_comm_id = kTheirs, .remote_comm_id = kOurs});
  sent(Drep{.local_comm_id = kOurs, .remote_comm_id = kTheirs});
  EXPECT_EQ(connections.size(), 0u);
  ask();
  arrived(Rej{.remote_comm_id = kOurs, .reason = 8});
  EXPECT_EQ(connections.size(), 0u);
  be_asked();
  sent(Rej{.remote_comm_id = kTheirs, .reason = 28});
  EXPECT_EQ(connections.size(), 0u);
  be_asked();
  arrived(Rej{.local_comm_id = kTheirs, .reason = 4}, {});  // whose sender never heard of us
  EXPECT_EQ(connections.size(), 0u);
  EXPECT_THAT(connections.bury(kSlot), IsEmpty());
}

TEST_F(ConnectionsTest, OthersAreNotBuried) {
  be_asked();
  EXPECT_THAT(connections.bury(Slot{6}), IsEmpty());
  EXPECT_EQ(connections.size(), 1u);
}

// --- repetitions --------------------------------------------------------------------------------

TEST_F(ConnectionsTest, ARepeatedRequestIsTheSameAndBelongsToWhoGotIt) {
  EXPECT_FALSE(connections.who_got(path.destination, kTheirs));
  be_asked();
  arrived(Req{.local_comm_id = kTheirs}, Slot{6});
  EXPECT_EQ(connections.who_got(path.destination, kTheirs), kSlot);
  EXPECT_FALSE(connections.who_got(path.source, kTheirs));
  EXPECT_EQ(connections.size(), 1u);
  accept();
  be_confirmed();
  accept();  // the RTU and a second REP have crossed
  expect_disconnect();
}

TEST_F(ConnectionsTest, APeerOnAnotherHostMayHaveTheSameIds) {
  be_asked();
  path.destination = {10, 0, 0, 3};
  be_asked();
  EXPECT_EQ(connections.size(), 2u);
  sent(Rej{.remote_comm_id = kTheirs, .reason = 28});
  EXPECT_EQ(connections.size(), 1u);
  EXPECT_FALSE(connections.who_got({10, 0, 0, 3}, kTheirs));
  EXPECT_TRUE(connections.who_got({10, 0, 0, 2}, kTheirs));
}

TEST_F(ConnectionsTest, WhatIsNotKnownOrNotReadableHasNoEffect) {
  be_answered();
  confirm();
  be_confirmed();
  sent(Drep{.local_comm_id = kOurs, .remote_comm_id = kTheirs});
  sent(Mra{.local_comm_id = kOurs, .remote_comm_id = kTheirs});
  mad = {};
  connections.on_sent(path, mad);
  connections.on_arrived(path, mad, kSlot);
  EXPECT_EQ(connections.size(), 0u);
}

}  // namespace
}  // namespace anyrdma::sim
