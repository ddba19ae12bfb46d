// The checkers of devices: what they announce, whom they let in, and what is left of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/announcements.h"
#include "check/atomics.h"
#include "check/claims_fixture.h"
#include "check/keys.h"
#include "check/leaks.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- announcements ------------------------------------------------------------------------------

class AnnouncementsTest : public Claims {
 protected:
  QpCensus in(ibv_qp_state state) {
    QpCensus census;
    census.state = state;
    return census;
  }
  static constexpr std::uint64_t kQueue = 5;
  Announcements announcements{found, "h/anyrdma0"};
};

TEST_F(AnnouncementsTest, AreSilentWhenEachComesOnceAndInTime) {
  announcements.on_limit_set(kQueue, 2, {.receives = 3});
  announcements.on_limit_reached(kQueue, {.receives = 1});
  announcements.audit(17, kQueue, in(IBV_QPS_RTS));
  announcements.on_last_receive(17);
  announcements.audit(17, kQueue, in(IBV_QPS_ERR));
  announcements.on_fresh(17);
  announcements.audit(17, kQueue, in(IBV_QPS_RESET));
  announcements.audit(18, 0, in(IBV_QPS_ERR));

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AnnouncementsTest, ALimitThatIsNotReachedOrToldTwiceIsReported) {
  announcements.on_limit_set(kQueue, 2, {.receives = 3});
  announcements.on_limit_reached(kQueue, {.receives = 2});
  announcements.on_limit_reached(kQueue, {.receives = 1});

  EXPECT_THAT(found.lines(), ElementsAre("announcements: h/anyrdma0: a shared receive queue says "
                                         "SRQ_LIMIT_REACHED with 2 left of a limit of 2",
                                         "announcements: h/anyrdma0: a shared receive queue says "
                                         "SRQ_LIMIT_REACHED although no limit is set"));
}

TEST_F(AnnouncementsTest, ALimitIsOfNoInterestUntilAReceiveIsTaken) {
  announcements.on_limit_set(kQueue, 4, {.receives = 1});
  announcements.on_posted(kQueue);
  announcements.audit_queue(kQueue, {.receives = 2});
  announcements.on_posted(kQueue);
  announcements.on_posted(kQueue);
  announcements.on_posted(kQueue);
  announcements.audit_queue(kQueue, {.receives = 4});

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AnnouncementsTest, ALimitThatWasReachedAndIsNeverToldIsReportedOnce) {
  announcements.on_limit_set(kQueue, 2, {.receives = 1});
  announcements.on_posted(kQueue);
  announcements.audit_queue(kQueue, {.receives = 1});
  announcements.audit_queue(kQueue, {.receives = 1});

  EXPECT_THAT(found.lines(), ElementsAre("announcements: h/anyrdma0: a shared receive queue has 1 "
                                         "left of a limit of 2, and never said SRQ_LIMIT_REACHED"));
}

TEST_F(AnnouncementsTest, ALastReceiveTooManyOrTooFewIsReported) {
  announcements.audit(17, kQueue, in(IBV_QPS_ERR));
  announcements.on_last_receive(18);
  announcements.audit(18, kQueue, in(IBV_QPS_RTS));
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
  const Stream kStream{.from = {.qp = 17}, .to = {.qp = 18}, .psn = 7};
  const std::string kPrefix = "atomics: " + kStream.to_string() + ": ";
  Atomics atomics{found};
};

TEST_F(AtomicsTest, AreSilentWhenAnAnswerComesAgain) {
  atomics.on_done(kStream, 5, 100);
  atomics.on_answer(kStream, 5, 100);
  atomics.on_answer(kStream, 5, 100);
  atomics.on_end(kStream);
  atomics.on_done(kStream, 5, 200);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(AtomicsTest, WhatIsDoneTwiceOrAnsweredWronglyIsReported) {
  atomics.on_done(kStream, 5, 100);
  atomics.on_done(kStream, 5, 101);
  atomics.on_answer(kStream, 5, 101);

  EXPECT_THAT(
      found.lines(),
      ElementsAre(kPrefix + "PSN 5 is executed twice",
                  kPrefix + "PSN 5 is answered with the original value 101, but memory had 100"));
}

// --- keys ---------------------------------------------------------------------------------------

class KeysTest : public Claims {
 protected:
  void access(std::uint32_t key) {
    keys.on_success("q", kDevice, key, keys.closing_of(kDevice, key));
  }

  const std::string kDevice = "h/anyrdma0";
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
  const Keys::Closing posted = keys.closing_of(kDevice, 0x100);
  keys.on_closed("h/anyrdma0", 0x100);
  keys.on_success("q", kDevice, 0x100, posted);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(KeysTest, AClosedKeyThatStillOpensIsReported) {
  keys.on_closed("h/anyrdma0", 0x100);
  access(0x100);

  EXPECT_THAT(found.lines(),
              ElementsAre("keys: q: what names key 256 succeeded, which was closed before"));
}

// --- leaks --------------------------------------------------------------------------------------

class LeaksTest : public Claims {
 protected:
  Leaks leaks{found};
};

TEST_F(LeaksTest, IsSilentWhenNothingIsLeft) {
  leaks.on_left("h/anyrdma0", 0, "queue pairs");
  leaks.on_timers("h/anyrdma0", std::size_t{3}, std::size_t{3});
  QpCensus sending;
  sending.state = IBV_QPS_RTS;
  sending.timers = 1;
  leaks.on_timers("h/anyrdma0", std::uint32_t{17}, sending);

  EXPECT_THAT(found.lines(), IsEmpty());
}

TEST_F(LeaksTest, WhatIsLeftIsReported) {
  leaks.on_left("h/anyrdma0", 2, "queue pairs");
  leaks.on_left("h", 10, "event channels");

  EXPECT_THAT(found.lines(), ElementsAre("leaks: h/anyrdma0: 2 queue pairs never destroyed",
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
}  // namespace anyrdma::check
