// Each checker hears a history that breaks its claim, and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sim/check/afterlife.h"
#include "sim/check/agreement.h"
#include "sim/check/announcements.h"
#include "sim/check/atomics.h"
#include "sim/check/keys.h"
#include "sim/check/leaks.h"
#include "sim/check/ledger.h"
#include "sim/check/payload.h"
#include "sim/check/private_data.h"
#include "sim/check/work.h"

namespace anyrdma::sim::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using verbs::soft::Census;
using verbs::soft::QpCensus;

const IdName kClient{"client", 1};
const IdName kServer{"server", 2};
const std::string kRoute = "TCP 192.0.2.1,40000->192.0.2.2,7471";

class Claims : public ::testing::Test {
 protected:
  Violations found;
};

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

  EXPECT_THAT(found.lines(), ElementsAre("ledger: client#1: 1 of its events never acknowledged"));
}

TEST_F(LedgerTest, AHostWithoutPowerOwesNothing) {
  ledger.on_fetched(kClient);
  ledger.on_crash("client");
  ledger.on_end();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(LedgerTest, AnAcknowledgementTooManyIsReportedAtOnce) {
  ledger.on_acknowledged(kServer);

  EXPECT_THAT(found.lines(), ElementsAre("ledger: server#2: an event was acknowledged that nobody "
                                         "was handed"));
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
              ElementsAre("agreement: server#2: hears on " + kRoute +
                          " of a peer with qpn=17 resources=5 depth=3, which says qpn=17 "
                          "resources=3 depth=5"));
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

// --- work ---------------------------------------------------------------------------------------

class WorkTest : public Claims {
 protected:
  WorkTest() { work.on_opened(17, Work::Receives::kOwn); }

  static ibv_wc completion(std::uint64_t wr_id, ibv_wc_opcode opcode,
                           ibv_wc_status status = IBV_WC_SUCCESS) {
    ibv_wc wc{};
    wc.wr_id = wr_id;
    wc.opcode = opcode;
    wc.status = status;
    wc.qp_num = 17;
    return wc;
  }
  void sent(std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS) {
    work.on_polled(completion(wr_id, IBV_WC_SEND, status));
  }
  void received(std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS) {
    work.on_polled(completion(wr_id, IBV_WC_RECV, status));
  }

  Work work{found, "client/anyrdma0"};
};

TEST_F(WorkTest, IsSilentWhenAllCompletesInOrder) {
  work.on_send(17, 1, false);
  work.on_send(17, 2, true);
  work.on_send(17, 3, false);
  work.on_receive(17, 1);
  work.on_receive(17, 1);
  sent(2);
  sent(3, IBV_WC_WR_FLUSH_ERR);
  received(1);
  received(1, IBV_WC_WR_FLUSH_ERR);
  QpCensus census;
  census.state = IBV_QPS_ERR;
  work.audit(17, census);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(WorkTest, ACompletionTooManyIsReported) {
  work.on_send(17, 1, true);
  sent(1);
  sent(1);
  received(4);

  EXPECT_THAT(found.lines(),
              ElementsAre("work: client/anyrdma0 QP 17: send 1 (status 0) completed, but next is "
                          "nothing",
                          "work: client/anyrdma0 QP 17: receive 4 (status 0) completed, but next "
                          "is nothing"));
}

TEST_F(WorkTest, AnotherOrderThanThatOfPostingIsReported) {
  work.on_send(17, 1, true);
  work.on_send(17, 2, true);
  work.on_receive(17, 3);
  work.on_receive(17, 4);
  sent(2);
  received(4);

  EXPECT_THAT(found.lines(),
              ElementsAre("work: client/anyrdma0 QP 17: send 2 (status 0) completed, but next is 1",
                          "work: client/anyrdma0 QP 17: receive 4 (status 0) completed, but next "
                          "is 3"));
}

TEST_F(WorkTest, AfterAnErrorAlsoUnsignaledSendsComplete) {
  work.on_send(17, 1, true);
  work.on_send(17, 2, false);
  work.on_send(17, 3, true);
  sent(1, IBV_WC_RETRY_EXC_ERR);
  sent(3, IBV_WC_WR_FLUSH_ERR);

  EXPECT_EQ(found.lines().size(), 1u);
}

TEST_F(WorkTest, ALostCompletionIsReportedAtRest) {
  work.on_send(17, 1, true);
  work.on_receive(17, 2);
  QpCensus census;
  census.state = IBV_QPS_ERR;
  work.audit(17, census);
  work.audit(17, census);

  EXPECT_THAT(found.lines(),
              ElementsAre("work: client/anyrdma0 QP 17: of its sends 1 are not completed, and it "
                          "has 0",
                          "work: client/anyrdma0 QP 17: of its receives 1 are not completed, and "
                          "it has 0"));
}

TEST_F(WorkTest, WhatIsNotFlushedInErrorIsReported) {
  work.on_send(17, 1, true);
  QpCensus census;
  census.state = IBV_QPS_ERR;
  census.sends = census.signaled_sends = 1;
  work.audit(17, census);

  EXPECT_THAT(found.lines(), ElementsAre("work: client/anyrdma0 QP 17: it is in ERR and 1 of its "
                                         "requests are not flushed"));
}

TEST_F(WorkTest, WhatIsDiscardedIsCountedAndForgotten) {
  work.on_send(17, 1, true);
  work.on_receive(17, 2);
  QpCensus census;
  census.sends = census.signaled_sends = census.receives = 1;
  work.on_discarding(17, census, false);

  EXPECT_THAT(found.lines(), IsEmpty());
  EXPECT_EQ(work.discarded(), 2u);
}

TEST_F(WorkTest, ACompletionOfADestroyedQueuePairIsReported) {
  work.on_send(17, 1, true);
  QpCensus census;
  census.sent = 1;
  work.on_discarding(17, census, true);
  sent(1);

  EXPECT_THAT(found.lines(), ElementsAre("work: client/anyrdma0 QP 17: send 1 (status 0) "
                                         "completed, but there is no such QP"));
}

TEST_F(WorkTest, ASharedReceiveCompletesOnceOnAnyOfItsQueuePairs) {
  ibv_srq srq{};
  work.on_opened(17, Work::Receives::kShared, &srq);
  work.on_shared_receive(&srq, 5);
  work.on_shared_receive(&srq, 6);
  received(6);
  received(5);
  EXPECT_THAT(found.lines(), IsEmpty());

  received(5);
  EXPECT_THAT(found.lines(), ElementsAre("work: client/anyrdma0 QP 17: receive 5 (status 0) "
                                         "completed, but was not posted to its shared queue"));
}

TEST_F(WorkTest, AReceiveOfAnExtendedConnectionMayComeFromAnyQueueButOnce) {
  const ibv_srq first{};
  const ibv_srq second{};
  work.on_opened(17, Work::Receives::kNamed);
  work.on_shared_receive(&first, 1);
  work.on_shared_receive(&second, 2);
  received(2);
  received(1);
  work.audit(&second, {.receives = 0});
  EXPECT_THAT(found.lines(), IsEmpty());

  received(2);
  work.audit(&first, {.receives = 1});

  EXPECT_THAT(
      found.lines(),
      ElementsAre("work: client/anyrdma0 QP 17: receive 2 (status 0) completed, but was not posted "
                  "to its shared queue",
                  "work: client/anyrdma0: a shared receive queue holds 1 receives, of which only 0 "
                  "are not completed"));
}

TEST_F(WorkTest, AnotherQueueAtTheSamePlaceHasNothingOfTheOneBefore) {
  const ibv_srq srq{};
  work.on_opened(17, Work::Receives::kShared, &srq);
  work.on_shared_receive(&srq, 1);
  work.on_closing(&srq, {.receives = 1});
  received(1);
  EXPECT_EQ(found.lines().size(), 1u);
}

TEST_F(WorkTest, AQueueThatDropsCompletionsMayLeaveSomeOut) {
  for (const std::uint64_t wr_id : {1u, 2u, 3u}) {
    work.on_send(17, wr_id, true);
    work.on_receive(17, wr_id);
  }
  work.on_polled(completion(2, IBV_WC_SEND), true);
  work.on_polled(completion(3, IBV_WC_RECV), true);
  EXPECT_THAT(found.lines(), IsEmpty());

  work.on_polled(completion(1, IBV_WC_SEND), true);

  EXPECT_EQ(found.lines().size(), 1u);
}

// --- announcements ------------------------------------------------------------------------------

class AnnouncementsTest : public Claims {
 protected:
  QpCensus in(ibv_qp_state state) {
    QpCensus census;
    census.state = state;
    return census;
  }
  const ibv_srq srq{};
  Announcements announcements{found, "h/anyrdma0"};
};

TEST_F(AnnouncementsTest, AreSilentWhenEachComesOnceAndInTime) {
  announcements.on_limit_set(&srq, 2);
  announcements.on_limit_reached(&srq, {.receives = 1});
  announcements.audit(17, &srq, in(IBV_QPS_RTS));
  announcements.on_last_receive(17);
  announcements.audit(17, &srq, in(IBV_QPS_ERR));
  announcements.on_fresh(17);
  announcements.audit(17, &srq, in(IBV_QPS_RESET));
  announcements.audit(18, nullptr, in(IBV_QPS_ERR));

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AnnouncementsTest, ALimitThatIsNotReachedOrToldTwiceIsReported) {
  announcements.on_limit_set(&srq, 2);
  announcements.on_limit_reached(&srq, {.receives = 2});
  announcements.on_limit_reached(&srq, {.receives = 1});

  EXPECT_THAT(found.lines(), ElementsAre("announcements: h/anyrdma0: a shared receive queue says "
                                         "SRQ_LIMIT_REACHED with 2 left of a limit of 2",
                                         "announcements: h/anyrdma0: a shared receive queue says "
                                         "SRQ_LIMIT_REACHED although no limit is set"));
}

TEST_F(AnnouncementsTest, ALastReceiveTooManyOrTooFewIsReported) {
  announcements.audit(17, &srq, in(IBV_QPS_ERR));
  announcements.on_last_receive(18);
  announcements.audit(18, &srq, in(IBV_QPS_RTS));
  announcements.on_last_receive(19);
  announcements.on_last_receive(19);

  EXPECT_THAT(
      found.lines(),
      ElementsAre("announcements: h/anyrdma0 QP 17: in ERR, and never said LAST_WQE_REACHED",
                  "announcements: h/anyrdma0 QP 18: said LAST_WQE_REACHED, and is not in ERR",
                  "announcements: h/anyrdma0 QP 19: LAST_WQE_REACHED comes again"));
}

// --- atomics ------------------------------------------------------------------------------------

class AtomicsTest : public Claims {
 protected:
  Atomics atomics{found};
};

TEST_F(AtomicsTest, AreSilentWhenAnAnswerComesAgain) {
  atomics.on_done("a", 5, 100);
  atomics.on_answer("a", 5, 100);
  atomics.on_answer("a", 5, 100);
  atomics.on_end("a");
  atomics.on_done("a", 5, 200);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AtomicsTest, WhatIsDoneTwiceOrAnsweredWronglyIsReported) {
  atomics.on_done("a", 5, 100);
  atomics.on_done("a", 5, 101);
  atomics.on_answer("a", 5, 101);

  EXPECT_THAT(found.lines(),
              ElementsAre("atomics: a: PSN 5 is done twice",
                          "atomics: a: PSN 5 is answered with 101, but there was 100"));
}

// --- keys ---------------------------------------------------------------------------------------

class KeysTest : public Claims {
 protected:
  KeysTest() {
    gid.raw[15] = 7;
    keys.on_address("h/anyrdma0", gid);
  }
  void access(std::uint32_t key) { keys.on_success("q", gid, key, keys.closing_of(gid, key)); }

  ibv_gid gid{};
  Keys keys{found};
};

TEST_F(KeysTest, AreSilentWhileAKeyIsOpen) {
  access(0x100);
  keys.on_closed("h/anyrdma0", 0x100);
  keys.on_closed("other/anyrdma0", 0x200);
  access(0x200);
  keys.on_opened("h/anyrdma0", 0x100);
  access(0x100);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(KeysTest, WhatWasPostedBeforeItsKeyWasClosedMaySucceed) {
  const Keys::Closing posted = keys.closing_of(gid, 0x100);
  keys.on_closed("h/anyrdma0", 0x100);
  keys.on_success("q", gid, 0x100, posted);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(KeysTest, AClosedKeyThatStillOpensIsReported) {
  keys.on_closed("h/anyrdma0", 0x100);
  access(0x100);

  EXPECT_THAT(found.lines(),
              ElementsAre("keys: q: what names key 256 succeeded, which was closed before"));
}

// --- payload ------------------------------------------------------------------------------------

class PayloadTest : public Claims {
 protected:
  Payload payload{found};
};

TEST_F(PayloadTest, IsSilentWhenMessagesArriveWholeAndInOrder) {
  payload.on_sent("a", {4, 111});
  payload.on_sent("a", {5, std::nullopt});
  payload.on_received("a", {4, 111});
  payload.on_received("a", {5, 222});

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(PayloadTest, AChangedAShorterAndAnInventedMessageAreReported) {
  payload.on_sent("a", {4, 111});
  payload.on_sent("a", {5, 222});
  payload.on_received("a", {4, 112});
  payload.on_received("a", {4, 222});
  payload.on_received("a", {6, 333});

  EXPECT_THAT(found.lines(), ElementsAre("payload: a: a message of 4 bytes arrived changed",
                                         "payload: a: 4 bytes received of a message of 5",
                                         "payload: a: 6 bytes received that nobody sent"));
}

TEST_F(PayloadTest, WhereMessagesMayBeLostTheOthersKeepTheirOrder) {
  payload.on_sent("a", {4, 111});
  payload.on_sent("a", {5, 222});
  payload.on_sent("a", {6, 333});
  payload.on_received_of_some("a", {5, 222});
  EXPECT_THAT(found.lines(), IsEmpty());

  payload.on_received_of_some("a", {4, 111});
  payload.on_received_of_some("a", {6, 334});

  EXPECT_THAT(found.lines(),
              ElementsAre("payload: a: a message of 4 bytes arrived that nobody sent, or that was "
                          "sent earlier",
                          "payload: a: a message of 6 bytes arrived that nobody sent, or that was "
                          "sent earlier"));
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
  afterlife.on_opened("client/anyrdma0", 17);
  afterlife.on_ready_to_send("client/anyrdma0", 17);

  EXPECT_THAT(found.lines(), IsEmpty());
}

// --- leaks --------------------------------------------------------------------------------------

class LeaksTest : public Claims {
 protected:
  Leaks leaks{found};
};

TEST_F(LeaksTest, IsSilentWhenNothingIsLeft) {
  leaks.on_device_end("h/anyrdma0", Census{});
  leaks.on_channels_end("h", 0);
  leaks.on_timers("h/anyrdma0", std::size_t{3}, std::size_t{3});
  QpCensus sending;
  sending.state = IBV_QPS_RTS;
  sending.timers = 1;
  leaks.on_timers("h/anyrdma0", std::uint32_t{17}, sending);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(LeaksTest, EveryKindOfObjectIsReported) {
  leaks.on_device_end("h/anyrdma0", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0});
  leaks.on_channels_end("h", 10);

  EXPECT_THAT(found.lines(),
              ElementsAre("leaks: h/anyrdma0: 1 queue pairs never destroyed",
                          "leaks: h/anyrdma0: 2 completion queues never destroyed",
                          "leaks: h/anyrdma0: 3 completion channels never destroyed",
                          "leaks: h/anyrdma0: 5 memory windows never destroyed",
                          "leaks: h/anyrdma0: 6 device memories never destroyed",
                          "leaks: h/anyrdma0: 4 memory regions never destroyed",
                          "leaks: h/anyrdma0: 7 protection domains never destroyed",
                          "leaks: h/anyrdma0: 8 address handles never destroyed",
                          "leaks: h/anyrdma0: 9 shared receive queues never destroyed",
                          "leaks: h/anyrdma0: 10 extended connection domains never destroyed",
                          "leaks: h/anyrdma0: 11 thread domains never destroyed",
                          "leaks: h/anyrdma0: 12 opened names of queue pairs never destroyed",
                          "leaks: h: 10 event channels never destroyed"));
}

TEST_F(LeaksTest, ATimerWithoutAnOwnerIsReported) {
  QpCensus failed;
  failed.state = IBV_QPS_ERR;
  failed.timers = 1;
  leaks.on_timers("h/anyrdma0", std::uint32_t{17}, failed);
  leaks.on_timers("h/anyrdma0", std::size_t{2}, std::size_t{1});

  EXPECT_THAT(found.lines(),
              ElementsAre("leaks: h/anyrdma0 QP 17: 1 timers armed in state 6",
                          "leaks: h/anyrdma0: 2 timers armed, of which 1 have an owner"));
}

}  // namespace
}  // namespace anyrdma::sim::check
