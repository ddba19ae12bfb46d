// Multicast groups: joining, what fetching the answer does, leaving (L/cma.c:rdma_join_multicast2).
#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::SizeIs;
using transport::JoinState;
using transport::MembershipId;

class Multicast : public CmTest {
 protected:
  Placed bound() {
    Placed placed = make_id(RDMA_PS_UDP);
    EXPECT_TRUE(placed.id->bind(raw(here_)));
    return placed;
  }
  Result<void> join(Placed& placed, JoinState state = JoinState::kFullMember) {
    return placed.id->join_multicast(raw(group_), &context_, state);
  }
  Result<void> leave(Placed& placed) { return placed.id->leave_multicast(raw(group_)); }
  void create_qp(Placed& placed) {
    ibv_qp_init_attr attributes = qp_attributes();
    attributes.qp_type = IBV_QPT_UD;
    EXPECT_EQ(errno_of(placed.id->create_qp(nullptr, &attributes)), 0);
  }
  void raise_join(Placed& placed, MembershipId membership = MembershipId{1}) {
    rdma_ud_param ud{};
    ud.qp_num = 0xffffff;
    ud.qkey = RDMA_UDP_QKEY;
    ud.ah_attr.grh.dgid.raw[15] = 7;
    ud.ah_attr.dlid = 0xc001;
    transport_.raise(*placed.endpoint, {.type = RDMA_CM_EVENT_MULTICAST_JOIN,
                                        .private_data = {},
                                        .ud = &ud,
                                        .membership = membership});
  }
  void raise_error(Placed& placed, int status) {
    transport_.raise(*placed.endpoint, {.type = RDMA_CM_EVENT_MULTICAST_ERROR,
                                        .status = status,
                                        .private_data = {},
                                        .membership = MembershipId{1}});
  }
  /// A member whose answer was fetched and acknowledged.
  Placed member(JoinState state = JoinState::kFullMember) {
    Placed placed = bound();
    create_qp(placed);
    EXPECT_TRUE(join(placed, state));
    raise_join(placed);
    EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_MULTICAST_JOIN));
    return placed;
  }
  void finish(Placed& placed) { EXPECT_EQ(errno_of(placed.id->destroy_qp()), 0); }

  int context_ = 0;
};

// --- joining ------------------------------------------------------------------------------------

TEST_F(Multicast, JoinsNameTheirGroupAMembershipAndHowTheyBelong) {
  Placed placed = bound();
  EXPECT_CALL(*placed.endpoint, join_multicast(_, MembershipId{1}, JoinState::kFullMember));
  EXPECT_CALL(*placed.endpoint, join_multicast(_, MembershipId{2}, JoinState::kSendOnlyFullMember));

  EXPECT_EQ(errno_of(join(placed)), 0);
  EXPECT_EQ(errno_of(join(placed, JoinState::kSendOnlyFullMember)), 0);
}

TEST_F(Multicast, NoOrUnknownAddressesAreRefused) {
  Placed placed = bound();
  sockaddr_in unknown = group_;
  unknown.sin_family = AF_UNIX;

  EXPECT_EQ(errno_of(placed.id->join_multicast(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->join_multicast(raw(unknown), nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->leave_multicast(nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->leave_multicast(raw(unknown))), EINVAL);
}

TEST_F(Multicast, AJoinThatTheTransportRefusesLeavesNothingBehind) {
  Placed placed = bound();
  EXPECT_CALL(*placed.endpoint, join_multicast).WillOnce(Return(errno_code(ENODEV)));

  EXPECT_EQ(errno_of(join(placed)), ENODEV);

  EXPECT_EQ(errno_of(leave(placed)), EADDRNOTAVAIL);
}

TEST_F(Multicast, TheAnswerCarriesTheGroupAndTheContextOfTheJoinWithoutLength) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);

  const Event event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_MULTICAST_JOIN));
  EXPECT_EQ(event.ud().private_data, &context_);
  EXPECT_EQ(event.ud().private_data_len, 0);
  EXPECT_EQ(event.ud().qp_num, 0xffffffu);
  EXPECT_EQ(event.ud().ah_attr.dlid, 0xc001);
}

TEST_F(Multicast, FetchingTheAnswerAttachesTheQueuePair) {
  Placed placed = member();

  ASSERT_THAT(provider_.attached, SizeIs(1));
  EXPECT_EQ(provider_.attached[0].qp, placed.id->qp());
  EXPECT_EQ(provider_.attached[0].gid.raw[15], 7);
  EXPECT_EQ(provider_.attached[0].lid, 0xc001);
  EXPECT_TRUE(leave(placed));
  finish(placed);
}

TEST_F(Multicast, ASendOnlyMemberIsNotAttached) {
  Placed placed = member(JoinState::kSendOnlyFullMember);

  EXPECT_THAT(provider_.attached, SizeIs(0));
  EXPECT_EQ(errno_of(leave(placed)), 0);
  finish(placed);
}

TEST_F(Multicast, WithoutQueuePairNothingIsAttachedAndLaterOnesAreNotEither) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  EXPECT_THAT(next(), HasStatus(0));

  create_qp(placed);

  EXPECT_THAT(provider_.attached, SizeIs(0));
  EXPECT_EQ(errno_of(leave(placed)), 0);
  finish(placed);
}

TEST_F(Multicast, AnAttachmentThatFailsTurnsTheAnswerIntoAnError) {
  Placed placed = bound();
  create_qp(placed);
  EXPECT_TRUE(join(placed));
  provider_.attach_mcast_error = ENOMEM;
  raise_join(placed);

  const Event event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_MULTICAST_ERROR));
  EXPECT_THAT(event, HasStatus(-1));
  EXPECT_EQ(event.ud().private_data, &context_);
  finish(placed);
}

TEST_F(Multicast, AnErrorCarriesItsStatusAndTheContext) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_error(placed, -ENETRESET);

  const Event event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_MULTICAST_ERROR));
  EXPECT_THAT(event, HasStatus(-ENETRESET));
  EXPECT_EQ(event.ud().private_data, &context_);
}

// --- leaving ------------------------------------------------------------------------------------

TEST_F(Multicast, LeavingDetachesTheQueuePairAndTellsTheTransport) {
  Placed placed = member();
  EXPECT_CALL(*placed.endpoint, leave_multicast(MembershipId{1}));

  EXPECT_EQ(errno_of(leave(placed)), 0);

  EXPECT_THAT(provider_.attached, SizeIs(0));
  EXPECT_EQ(errno_of(leave(placed)), EADDRNOTAVAIL) << "a second time";
  finish(placed);
}

TEST_F(Multicast, LeavingWhatWasNeverJoinedIsRefused) {
  Placed placed = bound();
  EXPECT_CALL(*placed.endpoint, leave_multicast).Times(0);

  EXPECT_EQ(errno_of(leave(placed)), EADDRNOTAVAIL);
}

TEST_F(Multicast, LeavingAGroupJoinedTwiceEndsTheNewerMembership) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  EXPECT_TRUE(join(placed));
  ::testing::InSequence order;
  EXPECT_CALL(*placed.endpoint, leave_multicast(MembershipId{2}));
  EXPECT_CALL(*placed.endpoint, leave_multicast(MembershipId{1}));

  EXPECT_EQ(errno_of(leave(placed)), 0);
  EXPECT_EQ(errno_of(leave(placed)), 0);
}

TEST_F(Multicast, LeavingDropsTheUnfetchedEventsOfTheGroupAndNoOthers) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  EXPECT_TRUE(placed.id->join_multicast(raw(there_), nullptr));
  raise_join(placed, MembershipId{1});
  raise_join(placed, MembershipId{2});
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_CHANGE);

  EXPECT_EQ(errno_of(leave(placed)), 0);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_MULTICAST_JOIN));
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ADDR_CHANGE));
  EXPECT_TRUE(channel_is_empty());
}

TEST_F(Multicast, EventsThatComeAfterLeavingAreDropped) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  EXPECT_TRUE(leave(placed));

  raise_join(placed);

  EXPECT_TRUE(channel_is_empty());
}

TEST_F(Multicast, LeavingWaitsForTheGroupsFetchedEventsOnly) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_CHANGE);
  Event joined = next();
  const Event other = next();
  runtime_.when_blocked = [&] { joined.ack(); };

  EXPECT_EQ(errno_of(leave(placed)), 0);

  EXPECT_EQ(runtime_.blocked, 1u);
  EXPECT_THAT(other, EventIs(RDMA_CM_EVENT_ADDR_CHANGE));
}

TEST_F(Multicast, LeavingInADeadlockLeavesAllTheSame) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  Event held = next();

  EXPECT_EQ(errno_of(leave(placed)), EDEADLK);

  EXPECT_EQ(errno_of(leave(placed)), EADDRNOTAVAIL);
  held.ack();
}

TEST_F(Multicast, ATransportThatCannotLeaveIsReportedAndTheGroupLeft) {
  Placed placed = member();
  EXPECT_CALL(*placed.endpoint, leave_multicast).WillOnce(Return(errno_code(EADDRNOTAVAIL)));

  EXPECT_EQ(errno_of(leave(placed)), EADDRNOTAVAIL);

  EXPECT_THAT(provider_.attached, SizeIs(0));
  finish(placed);
}

// --- together with the rest ---------------------------------------------------------------------

TEST_F(Multicast, DestructionWaitsForTheGroupsEventsAsForAnyOther) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  Event held = next();
  runtime_.when_blocked = [&] { held.ack(); };

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);

  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(Multicast, AnEventMayOutliveItsDeadlockedId) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  Event held = next();

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), EDEADLK);

  held.ack();
}

TEST_F(Multicast, DestructionDropsUnfetchedAnswers) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);

  EXPECT_TRUE(channel_is_empty());
}

TEST_F(Multicast, UnfetchedAnswersMigrateAndCanStillBeDropped) {
  Placed placed = bound();
  EXPECT_TRUE(join(placed));
  raise_join(placed);
  auto other = EventChannel::create(transport_).value();

  EXPECT_EQ(errno_of(placed.id->migrate(*other)), 0);
  EXPECT_EQ(errno_of(leave(placed)), 0);

  EXPECT_EQ(errno_of(other->try_get()), EAGAIN);
  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);
}

TEST_F(Multicast, ASynchronousJoinWaitsForItsAnswerAndLeavingAcknowledgesIt) {
  Placed placed;
  placed.id = Id::create_synchronous(transport_, RDMA_PS_UDP, nullptr).value();
  placed.endpoint = &transport_.last();
  EXPECT_TRUE(placed.id->bind(raw(here_)));
  runtime_.when_blocked = [&] { raise_join(placed); };

  EXPECT_EQ(errno_of(join(placed)), 0);
  EXPECT_EQ(placed.id->raw()->event->event, RDMA_CM_EVENT_MULTICAST_JOIN);
  EXPECT_EQ(errno_of(leave(placed)), 0);

  EXPECT_EQ(placed.id->raw()->event, nullptr);
  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(Multicast, ASynchronousJoinThatFailsSaysWhy) {
  Placed placed;
  placed.id = Id::create_synchronous(transport_, RDMA_PS_UDP, nullptr).value();
  placed.endpoint = &transport_.last();
  EXPECT_TRUE(placed.id->bind(raw(here_)));
  runtime_.when_blocked = [&] { raise_error(placed, -ETIMEDOUT); };

  EXPECT_EQ(errno_of(join(placed)), ETIMEDOUT);
  EXPECT_EQ(errno_of(leave(placed)), 0) << "which is how one cleans up";
}

}  // namespace
}  // namespace anyrdma::cm::testing
