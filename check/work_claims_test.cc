// The checkers of work: what is posted completes, and messages arrive as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "check/claims_fixture.h"
#include "check/payload.h"
#include "check/work.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  constexpr std::uint64_t kQueue = 5;
  work.on_opened(17, Work::Receives::kShared, kQueue);
  work.on_shared_receive(kQueue, 5);
  work.on_shared_receive(kQueue, 6);
  received(6);
  received(5);
  EXPECT_THAT(found.lines(), IsEmpty());

  received(5);
  EXPECT_THAT(found.lines(), ElementsAre("work: client/anyrdma0 QP 17: receive 5 (status 0) "
                                         "completed, but was not posted to its shared queue"));
}

TEST_F(WorkTest, AReceiveOfAnExtendedConnectionMayComeFromAnyQueueButOnce) {
  constexpr std::uint64_t kFirst = 1;
  constexpr std::uint64_t kSecond = 2;
  work.on_opened(17, Work::Receives::kNamed);
  work.on_shared_receive(kFirst, 1);
  work.on_shared_receive(kSecond, 2);
  received(2);
  received(1);
  work.audit_queue(kSecond, {.receives = 0});
  EXPECT_THAT(found.lines(), IsEmpty());

  received(2);
  work.audit_queue(kFirst, {.receives = 1});

  EXPECT_THAT(
      found.lines(),
      ElementsAre("work: client/anyrdma0 QP 17: receive 2 (status 0) completed, but was not posted "
                  "to its shared queue",
                  "work: client/anyrdma0: a shared receive queue holds 1 receives, of which only 0 "
                  "are not completed"));
}

TEST_F(WorkTest, AnotherQueueAtTheSamePlaceHasNothingOfTheOneBefore) {
  constexpr std::uint64_t kQueue = 5;
  work.on_opened(17, Work::Receives::kShared, kQueue);
  work.on_shared_receive(kQueue, 1);
  work.on_closing(kQueue, {.receives = 1});
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

// --- payload ------------------------------------------------------------------------------------

class PayloadTest : public Claims {
 protected:
  const Stream kStream{.from = {.qp = 17}, .to = {.qp = 18}, .psn = 7};
  const Stream kOtherStream{.from = {.qp = 18}, .to = {.qp = 17}, .psn = 9};
  const std::string kPrefix = "payload: " + kStream.to_string() + ": ";
  Payload payload{found};
};

TEST_F(PayloadTest, IsSilentWhenMessagesArriveWholeAndInOrder) {
  payload.on_sent(kStream, {4, 111});
  payload.on_sent(kStream, {5, std::nullopt});
  payload.on_received(kStream, {4, 111});
  payload.on_received(kStream, {5, 222});

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(PayloadTest, AChangedAShorterAndAnInventedMessageAreReported) {
  payload.on_sent(kStream, {4, 111});
  payload.on_sent(kStream, {5, 222});
  payload.on_received(kStream, {4, 112});
  payload.on_received(kStream, {4, 222});
  payload.on_received(kStream, {6, 333});
  payload.finish();

  EXPECT_THAT(found.lines(), ElementsAre(kPrefix + "a message of 4 bytes arrived changed",
                                         kPrefix + "4 bytes received of a message of 5",
                                         kPrefix + "6 bytes received that no peer sent"));
}

TEST_F(PayloadTest, ASenderThatIsGoneMayNotHaveReportedItsLastMessage) {
  payload.on_received(kStream, {6, 333});
  payload.on_sender_gone(kStream);
  payload.finish();

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(PayloadTest, WhatASenderReportedIsComparedAlsoWhenItIsGone) {
  payload.on_sent(kStream, {4, 111});
  payload.on_sender_gone(kStream);
  payload.on_received(kStream, {4, 112});
  payload.finish();

  EXPECT_THAT(found.lines(), ElementsAre(kPrefix + "a message of 4 bytes arrived changed"));
}

TEST_F(PayloadTest, ALaterStreamOfTheSameNameIsCompared) {
  payload.on_sender_gone(kStream);
  payload.on_end(kStream);
  payload.on_received(kStream, {6, 333});
  payload.finish();

  EXPECT_THAT(found.lines(), ElementsAre(kPrefix + "6 bytes received that no peer sent"));
}

TEST_F(PayloadTest, WhereMessagesMayBeLostTheOthersKeepTheirOrder) {
  payload.on_sent(kStream, {4, 111});
  payload.on_sent(kStream, {5, 222});
  payload.on_sent(kStream, {6, 333});
  payload.on_received_of_some(kStream, {5, 222});
  EXPECT_THAT(found.lines(), IsEmpty());

  payload.on_received_of_some(kStream, {4, 111});
  payload.on_received_of_some(kStream, {6, 334});

  EXPECT_THAT(found.lines(),
              ElementsAre(kPrefix + "a message of 4 bytes arrived that no peer sent, or that was "
                                    "sent earlier",
                          kPrefix + "a message of 6 bytes arrived that no peer sent, or that was "
                                    "sent earlier"));
}

TEST_F(PayloadTest, WhereTheNetworkKeepsNoOrderTheyMayComeLateAndTwice) {
  payload.on_disorder();
  payload.on_sent(kStream, {4, 111});
  payload.on_sent(kStream, {5, 222});
  payload.on_sent(kStream, {6, std::nullopt});
  for (int twice = 0; twice < 2; ++twice) {
    payload.on_received_of_some(kStream, {6, 333});
    payload.on_received_of_some(kStream, {5, 222});
    payload.on_received_of_some(kStream, {4, std::nullopt});
  }
  EXPECT_THAT(found.lines(), IsEmpty());

  payload.on_received_of_some(kStream, {5, 223});
  payload.on_received_of_some(kOtherStream, {5, 222});
  payload.on_end(kStream);
  payload.on_received_of_some(kStream, {5, 222});

  EXPECT_THAT(found.lines(), SizeIs(3));
}

}  // namespace
}  // namespace anyrdma::check
