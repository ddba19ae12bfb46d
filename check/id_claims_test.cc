// The checkers of ids: who is told what, once, and who is connected to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "check/afterlife.h"
#include "check/agreement.h"
#include "check/claims_fixture.h"
#include "check/ledger.h"
#include "check/private_data.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kClientName = "client";
const std::string kServerName = "server";
const IdName kClient{&kClientName, 1};
const IdName kServer{&kServerName, 2};
const std::string kRoute = "TCP 192.0.2.1,40000->192.0.2.2,7471";

// --- ledger -------------------------------------------------------------------------------------

class LedgerTest : public Claims {
 protected:
  Ledger ledger{found};
};

TEST_F(LedgerTest, IsSilentWhenEveryEventIsAcknowledgedOnce) {
  ledger.on_fetched(kClient);
  ledger.on_fetched(kClient);
  ledger.on_acknowledged(kClient);
  ledger.on_acknowledged(kClient);
  ledger.on_end();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(LedgerTest, AnEventThatIsNotAcknowledgedIsReportedAtTheEnd) {
  ledger.on_fetched(kClient);
  ledger.on_end();

  EXPECT_THAT(found.lines(),
              ElementsAre("ledger: client#1: 1 of its events were never acknowledged"));
}

TEST_F(LedgerTest, AHostWithoutPowerOwesNothing) {
  ledger.on_fetched(kClient);
  ledger.on_crash("client");
  ledger.on_end();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(LedgerTest, AnAcknowledgementTooManyIsReportedAtOnce) {
  ledger.on_acknowledged(kServer);

  EXPECT_THAT(found.lines(), ElementsAre("ledger: server#2: an event was acknowledged that was "
                                         "not fetched"));
}

// --- private data -------------------------------------------------------------------------------

class PrivateDataTest : public Claims {
 protected:
  static constexpr std::array<std::uint8_t, 2> kHi{'h', 'i'};
  PrivateData data{found};
};

TEST_F(PrivateDataTest, IsSilentWhenTheBytesArriveWithZerosBehindThem) {
  data.on_given(kRoute, Carrier::kRequest, kHi);
  data.on_delivered(kServer, kRoute, Carrier::kRequest, 4, std::array<std::uint8_t, 4>{'h', 'i'});

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(PrivateDataTest, ALateRepetitionOfAnEarlierRequestIsNoMistake) {
  data.on_given(kRoute, Carrier::kRequest, kHi);
  data.on_given(kRoute, Carrier::kRequest, {});
  data.on_delivered(kServer, kRoute, Carrier::kRequest, 2, kHi);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(PrivateDataTest, AChangedByteIsReported) {
  data.on_given(kRoute, Carrier::kReply, kHi);
  data.on_delivered(kClient, kRoute, Carrier::kReply, 2, std::array<std::uint8_t, 2>{'h', 'o'});

  EXPECT_THAT(found.lines(), ElementsAre("private data: client#1: reply on " + kRoute +
                                         " came with 686f, but given was 6869"));
}

TEST_F(PrivateDataTest, PaddingThatIsNotZeroIsReported) {
  data.on_given(kRoute, Carrier::kReply, kHi);
  data.on_delivered(kClient, kRoute, Carrier::kReply, 3, std::array<std::uint8_t, 3>{'h', 'i', 1});

  EXPECT_EQ(found.lines().size(), 1u);
}

TEST_F(PrivateDataTest, AMissingPaddingIsReported) {
  data.on_given(kRoute, Carrier::kReply, kHi);
  data.on_delivered(kClient, kRoute, Carrier::kReply, 4, kHi);

  EXPECT_THAT(found.lines(), ElementsAre("private data: client#1: reply on " + kRoute +
                                         " came with 2 bytes and has 4"));
}

TEST_F(PrivateDataTest, ARequestThatNobodyMadeIsReported) {
  data.on_delivered(kServer, kRoute, Carrier::kRequest, 2, kHi);

  EXPECT_THAT(found.lines(), ElementsAre("private data: server#2: request on " + kRoute +
                                         " came with 6869, but none was given"));
}

TEST_F(PrivateDataTest, ARejectionWithoutDataNeedsAnEndWithoutAnswer) {
  data.on_given(kRoute, Carrier::kRejection, kHi);
  data.on_delivered(kClient, kRoute, Carrier::kRejection, 2, std::array<std::uint8_t, 2>{});
  EXPECT_EQ(found.lines().size(), 1u);

  data.on_silent_end(kRoute);
  data.on_delivered(kClient, kRoute, Carrier::kRejection, 2, std::array<std::uint8_t, 2>{});
  EXPECT_EQ(found.lines().size(), 1u);
}

TEST_F(PrivateDataTest, TheCmsOwnRejectionHasNoData) {
  data.on_delivered(kClient, kRoute, Carrier::kRejection, 2, std::array<std::uint8_t, 2>{});
  EXPECT_THAT(found.lines(), IsEmpty());

  data.on_delivered(kClient, kRoute, Carrier::kRejection, 2, kHi);
  EXPECT_EQ(found.lines().size(), 1u);
}

TEST_F(PrivateDataTest, ARejectionThatAFaultPlanMadeIsExcused) {
  data.excuse(kHi);
  data.on_delivered(kClient, kRoute, Carrier::kRejection, 2, kHi);

  EXPECT_THAT(found.lines(), IsEmpty());
}

// --- agreement ----------------------------------------------------------------------------------

class AgreementTest : public Claims {
 protected:
  /// Both have said who they are, and heard who the other is.
  void shake_hands() {
    agreement.on_offer(kClient, kRoute, true, {17, 3, 5});
    agreement.on_heard(kServer, kRoute, false, {17, 5, 3});
    agreement.on_offer(kServer, kRoute, false, {18, 2, 3});
    agreement.on_heard(kClient, kRoute, true, {18, 3, 2});
    agreement.on_up(kClient);
  }

  static QpCensus census(std::uint32_t peer, std::uint32_t send_psn, std::uint32_t receive_psn,
                         std::uint8_t own, std::uint8_t other) {
    QpCensus qp;
    qp.state = IBV_QPS_RTS;
    qp.attr.dest_qp_num = peer;
    qp.attr.sq_psn = send_psn;
    qp.attr.rq_psn = receive_psn;
    qp.attr.path_mtu = IBV_MTU_1024;
    qp.gid.raw[15] = own;
    qp.attr.ah_attr.grh.dgid.raw[15] = other;
    return qp;
  }

  Agreement agreement{found};
};

TEST_F(AgreementTest, IsSilentWhenBothEndsAreConnected) {
  shake_hands();
  agreement.on_up(kServer);
  agreement.on_queue_pairs(kClient, kServer, census(18, 100, 200, 1, 2), 17,
                           census(17, 200, 100, 2, 1), 18);
  agreement.on_rest();

  EXPECT_THAT(found.lines(), IsEmpty());
  EXPECT_EQ(agreement.peer_of(kClient), kServer);
}

TEST_F(AgreementTest, TermsThatThePeerDidNotOfferAreReported) {
  agreement.on_offer(kClient, kRoute, true, {17, 3, 5});
  agreement.on_heard(kServer, kRoute, false, {17, 3, 5});  // not exchanged

  EXPECT_THAT(found.lines(),
              ElementsAre("agreement: server#2: its event on " + kRoute +
                          " says that the peer has qpn=17 resources=5 depth=3, but the peer sent "
                          "qpn=17 resources=3 depth=5"));
}

TEST_F(AgreementTest, QueuePairsThatDoNotFitAreReported) {
  shake_hands();
  agreement.on_queue_pairs(kClient, kServer, census(18, 100, 200, 1, 2), 17,
                           census(17, 200, 101, 2, 1), 18);
  agreement.on_queue_pairs(kClient, kServer, census(19, 100, 200, 1, 2), 17,
                           census(17, 200, 100, 2, 1), 18);
  agreement.on_queue_pairs(kClient, kServer, census(18, 100, 200, 1, 2), 17,
                           census(17, 200, 100, 2, 9), 18);

  EXPECT_THAT(
      found.lines(),
      ElementsAre("agreement: client#1: its QP does not fit: it sends from PSN 100 instead of 101",
                  "agreement: client#1: its QP does not fit: it sends to QP 19 instead of 18",
                  "agreement: server#2: its QP does not fit: it sends to another GID"));
}

TEST_F(AgreementTest, AHalfOpenConnectionIsReportedOnce) {
  shake_hands();
  agreement.on_up(kServer);
  agreement.on_over(kServer);
  agreement.on_rest();
  agreement.on_rest();

  EXPECT_THAT(found.lines(), ElementsAre("agreement: client#1: is connected to server#2, which is "
                                         "not, and no message was lost"));
}

TEST_F(AgreementTest, ALostMessageExplainsAHalfOpenConnection) {
  shake_hands();
  agreement.on_over(kServer);
  agreement.on_message_lost("server", "client");
  agreement.on_rest();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AgreementTest, AHostWithoutPowerExplainsWhatItsPeersThink) {
  shake_hands();
  agreement.on_crash("server");
  agreement.on_rest();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AgreementTest, WhatAHostSaidBeforeItCrashedMayBeHeardLate) {
  agreement.on_offer(kClient, kRoute, true, {17, 3, 5});
  agreement.on_crash("client");
  agreement.on_heard(kServer, kRoute, false, {17, 5, 3});

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AgreementTest, AMessageLostBetweenOthersExplainsNothing) {
  shake_hands();
  agreement.on_over(kServer);
  agreement.on_message_lost("server", "third");
  agreement.on_rest();

  EXPECT_EQ(found.lines().size(), 1u);
}

// --- afterlife ----------------------------------------------------------------------------------

class AfterlifeTest : public Claims {
 protected:
  Afterlife afterlife{found};
};

TEST_F(AfterlifeTest, IsSilentWhileTheIdLives) {
  afterlife.on_bound(kClient, "client/anyrdma0", 17);
  afterlife.on_ready_to_send("client/anyrdma0", 17);
  afterlife.on_ready_to_send("client/anyrdma0", 18);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AfterlifeTest, AQueuePairInRtsOnADeadIdIsReported) {
  afterlife.on_bound(kClient, "client/anyrdma0", 17);
  afterlife.on_dead(kClient);
  afterlife.on_ready_to_send("client/anyrdma0", 17);

  EXPECT_THAT(found.lines(), ElementsAre("afterlife: client/anyrdma0 QP 17: is in RTS although "
                                         "client#1 is over"));
}

TEST_F(AfterlifeTest, ANewQueuePairOfThatNumberIsAnother) {
  afterlife.on_bound(kClient, "client/anyrdma0", 17);
  afterlife.on_dead(kClient);
  afterlife.forget("client/anyrdma0", 17);
  afterlife.on_ready_to_send("client/anyrdma0", 17);

  EXPECT_THAT(found.lines(), IsEmpty());
}

}  // namespace
}  // namespace anyrdma::check
