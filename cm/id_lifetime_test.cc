// Destruction, the ledger of events, migration, the C API's way with events.
#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

class IdLifetime : public CmTest {};

TEST_F(IdLifetime, DestroyingNullIsRefused) {
  EXPECT_EQ(errno_of(Id::destroy(nullptr)), EINVAL);
}

TEST_F(IdLifetime, DestructionDoesNotWaitWhenAllIsAcknowledged) {
  Placed placed = place(Place::kDisconnect);

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);

  EXPECT_EQ(runtime_.blocked, 0u);
}

TEST_F(IdLifetime, DestructionWaitsForTheLastAcknowledgement) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  std::vector<Event> held;
  held.push_back(next());
  held.push_back(next());
  bool waited_with_one_left = false;
  EXPECT_CALL(*placed.endpoint, destroyed()).WillOnce([&] {
    EXPECT_EQ(held.size(), 2u) << "the connection ends first, then destroy waits";
  });
  runtime_.when_blocked = [&] {
    EXPECT_EQ(held.back().id().ledger().acknowledged + 2, held.back().id().ledger().fetched);
    held.pop_back();
    waited_with_one_left = held.size() == 1;
    held.clear();
  };

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);

  EXPECT_EQ(runtime_.blocked, 1u);
  EXPECT_TRUE(waited_with_one_left);
}

TEST_F(IdLifetime, OneOfTwoAcknowledgementsDoesNotWakeTheDestroyer) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  Event one = next();
  Event two = next();
  runtime_.when_blocked = [&] { one.ack(); };

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), EDEADLK);
  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(IdLifetime, ADeadlockedDestructionLetsTheEventsGoWithoutHarm) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  Event event = next();

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), EDEADLK);

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_ESTABLISHED));
  event.ack();
}

TEST_F(IdLifetime, AListenerWaitsForItsRequestsToBeAcknowledgedAndTheNewIdDoesNot) {
  Placed listening = listener();
  transport_.request(*listening.endpoint);
  Event event = next();
  std::unique_ptr<Id> child = event.take_request();

  EXPECT_EQ(errno_of(Id::destroy(std::move(child))), 0);
  EXPECT_EQ(runtime_.blocked, 0u);
  EXPECT_EQ(errno_of(Id::destroy(std::move(listening.id))), EDEADLK);
  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(IdLifetime, UnfetchedRequestsDieWithTheirListenerAndFetchedOnesLive) {
  Placed listening = listener();
  Placed fetched = incoming(listening);
  MockEndpoint* first = transport_.request(*listening.endpoint);
  MockEndpoint* second = transport_.request(*listening.endpoint);
  const rdma_conn_param param{};
  ::testing::Sequence order;
  EXPECT_CALL(*listening.endpoint, destroyed()).InSequence(order);
  EXPECT_CALL(*first, destroyed()).InSequence(order);
  EXPECT_CALL(*second, destroyed()).InSequence(order);
  EXPECT_CALL(*fetched.endpoint, destroyed()).Times(0);

  EXPECT_EQ(errno_of(Id::destroy(std::move(listening.id))), 0);

  EXPECT_TRUE(channel_is_empty());
  EXPECT_EQ(errno_of(fetched.id->accept(&param)), 0);
  ::testing::Mock::VerifyAndClearExpectations(fetched.endpoint);
}

TEST_F(IdLifetime, AReleasedEventIsAcknowledgedByItsPointer) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  rdma_cm_event* event = next().release();
  EXPECT_EQ(event->id, placed.id->raw());
  EXPECT_EQ(event->event, RDMA_CM_EVENT_ESTABLISHED);
  const std::uint64_t before = placed.id->ledger().acknowledged;

  EXPECT_EQ(errno_of(Event::ack(event)), 0);

  EXPECT_EQ(placed.id->ledger().acknowledged, before + 1);
  EXPECT_EQ(errno_of(Event::ack(nullptr)), EINVAL);
}

TEST_F(IdLifetime, ReleasingARequestGivesItsIdAway) {
  Placed listening = listener();
  MockEndpoint* endpoint = transport_.request(*listening.endpoint);
  EXPECT_CALL(*endpoint, destroyed()).Times(0);
  rdma_cm_event* event = next().release();
  rdma_cm_id* child = event->id;
  EXPECT_EQ(event->listen_id, listening.id->raw());

  EXPECT_TRUE(Event::ack(event));

  ::testing::Mock::VerifyAndClearExpectations(endpoint);
  EXPECT_EQ(errno_of(Id::destroy(std::unique_ptr<Id>(&Id::from(child)))), 0);
}

TEST_F(IdLifetime, AcknowledgingTwiceIsTheProgramsMistakeAndFails) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  rdma_cm_event* event = next().release();
  EXPECT_TRUE(Event::ack(event));
  const std::uint64_t before = placed.id->ledger().acknowledged;

  ::testing::internal::CaptureStderr();
  EXPECT_EQ(errno_of(Event::ack(event)), EINVAL);

  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("the program's mistake: rdma_ack_cm_event: id " +
                                   std::to_string(placed.id->number()) +
                                   ": ESTABLISHED status 0 was acknowledged already"));
  EXPECT_EQ(placed.id->ledger().acknowledged, before);
}

TEST_F(IdLifetime, AnEventMayBeReplacedByAnother) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  Event event = next();

  event = next();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_DISCONNECTED));
  EXPECT_EQ(placed.id->ledger().fetched, placed.id->ledger().acknowledged + 1);
}

class IdMigration : public IdLifetime {
 protected:
  std::unique_ptr<EventChannel> other_ = EventChannel::create(transport_).value();
};

TEST_F(IdMigration, TakesUnfetchedEventsAlong) {
  Placed placed = place(Place::kConnect);
  Placed stays = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*stays.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_EQ(errno_of(placed.id->migrate(*other_)), 0);

  EXPECT_EQ(placed.id->raw()->channel, other_->raw());
  EXPECT_THAT(next(), ConcernsId(stays.id.get()));
  EXPECT_TRUE(channel_is_empty());
  EXPECT_THAT(*other_->try_get(), EventIs(RDMA_CM_EVENT_ESTABLISHED));
  EXPECT_THAT(*other_->try_get(), EventIs(RDMA_CM_EVENT_DISCONNECTED));
  EXPECT_EQ(errno_of(other_->try_get()), EAGAIN);
}

TEST_F(IdMigration, LaterEventsComeOnTheNewChannelEvenWhenTheOldIsGone) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(errno_of(placed.id->migrate(*other_)), 0);
  channel_.reset();

  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_THAT(*other_->try_get(), EventIs(RDMA_CM_EVENT_ESTABLISHED));
  EXPECT_THAT(*other_->try_get(), EventIs(RDMA_CM_EVENT_DISCONNECTED));
}

TEST_F(IdMigration, WaitsForFetchedEvents) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  Event event = next();
  runtime_.when_blocked = [&] { event.ack(); };

  EXPECT_EQ(errno_of(placed.id->migrate(*other_)), 0);

  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(IdMigration, MovesAListenersUnfetchedRequestsTogetherWithTheirIds) {
  Placed listening = listener();
  transport_.request(*listening.endpoint);

  EXPECT_EQ(errno_of(listening.id->migrate(*other_)), 0);

  Event event = other_->try_get().value();
  EXPECT_EQ(event.id().channel(), other_.get());
}

TEST_F(IdMigration, ToItsOwnChannelChangesNothing) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(errno_of(placed.id->migrate(*channel_)), 0);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ESTABLISHED));
}

TEST_F(IdMigration, ToAnotherTransportIsRefused) {
  NiceMock<MockTransport> elsewhere(runtime_, provider_);
  std::unique_ptr<EventChannel> foreign = EventChannel::create(elsewhere).value();
  Placed placed = make_id();

  EXPECT_EQ(errno_of(placed.id->migrate(*foreign)), EINVAL);
  EXPECT_EQ(placed.id->channel(), channel_.get());
}

}  // namespace
}  // namespace anyrdma::cm::testing
