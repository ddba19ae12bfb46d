#include "cm/event_channel.h"

#include <cstdlib>
#include <new>

#include "cm/cm_fixture.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Counts what the program allocates; the default operator new[] and friends end up here as well.
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace anyrdma::cm::testing {
namespace {

class EventChannelTest : public CmTest {};

/// Writes down what cm reports of its events.
class Notes final : public transport::EventObserver {
 public:
  struct Note {
    Step step;
    std::uint64_t id;
    std::uint64_t listener;
    rdma_cm_event_type type;
    bool operator==(const Note&) const = default;
  };
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override {
    taken.push_back({step, id, listener, event.event});
  }
  std::vector<Note> taken;
};

TEST_F(EventChannelTest, CannotBeCreatedWithoutAnRdmaDevice) {
  NiceMock<MockTransport> bare(runtime_, provider_);
  bare.remove_devices();

  EXPECT_EQ(errno_of(EventChannel::create(bare)), ENODEV);
}

TEST_F(EventChannelTest, IsStillCreatedWhenTheLastDeviceIsGone) {
  transport_.remove_devices();

  EXPECT_EQ(errno_of(EventChannel::create(transport_)), 0) << "librdmacm looks once";
}

TEST_F(EventChannelTest, PassesOnThatThereAreNoDescriptorsLeft) {
  runtime_.refuse_semaphores(1);

  EXPECT_EQ(errno_of(EventChannel::create(transport_)), EMFILE);
}

TEST_F(EventChannelTest, IsFoundAgainFromTheStructThatCProgramsHold) {
  EXPECT_EQ(&EventChannel::from(channel_->raw()), channel_.get());
  EXPECT_EQ(channel_->raw()->fd, channel_->fd());
}

TEST_F(EventChannelTest, TryGetOnAnEmptyChannelIsEagain) {
  EXPECT_EQ(errno_of(channel_->try_get()), EAGAIN);
}

TEST_F(EventChannelTest, GetWaitsAndReportsThatNobodyWillEverPost) {
  EXPECT_EQ(errno_of(channel_->get()), EDEADLK);
  EXPECT_EQ(runtime_.blocked, 1u);
}

TEST_F(EventChannelTest, GetReturnsWhatArrivesWhileItWaits) {
  Placed placed = place(Place::kAddrQuery);
  runtime_.when_blocked = [&] { transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED); };

  Result<Event> event = channel_->get();

  ASSERT_TRUE(event);
  EXPECT_THAT(*event, EventIs(RDMA_CM_EVENT_ADDR_RESOLVED));
  EXPECT_THAT(*event, HasStatus(0));
  EXPECT_THAT(*event, ConcernsId(placed.id.get()));
  EXPECT_EQ(event->listen_id(), nullptr);
}

TEST_F(EventChannelTest, EventsOfSeveralIdsComeInTheOrderTheyHappened) {
  Placed one = place(Place::kConnect);
  Placed two = place(Place::kConnect);
  transport_.raise(*two.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  transport_.raise(*one.endpoint, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  transport_.raise(*two.endpoint, RDMA_CM_EVENT_TIMEWAIT_EXIT);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_DISCONNECTED));
  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_UNREACHABLE), HasStatus(-ETIMEDOUT),
                                       ConcernsId(one.id.get())));
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_TIMEWAIT_EXIT));
  EXPECT_TRUE(channel_is_empty());
}

TEST_F(EventChannelTest, AnEventWithoutPrivateDataHasANullPointer) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_THAT(next(), HasNoPrivateData());
}

TEST_F(EventChannelTest, PrivateDataOutlivesTheUpcall) {
  Placed placed = place(Place::kConnect);
  {
    std::vector<std::uint8_t> message(148, 0);
    message[0] = 42;
    transport_.raise(
        *placed.endpoint,
        {.type = RDMA_CM_EVENT_REJECTED, .status = 28, .conn = {}, .private_data = message});
  }

  const std::vector<std::uint8_t> said{42};
  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_REJECTED), HasStatus(28),
                                       HasPrivateData(said, 148)));
}

TEST_F(EventChannelTest, EventsOfADestroyedIdAreNeverSeen) {
  Placed placed = place(Place::kConnect);
  Placed other = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*other.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);

  placed.id.reset();

  EXPECT_THAT(next(), ConcernsId(other.id.get()));
  EXPECT_TRUE(channel_is_empty());
}

TEST_F(EventChannelTest, AFetcherWhoseEventVanishesUnderItsHandsGoesOnLooking) {
  Placed placed = place(Place::kConnect);
  Placed other = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  runtime_.when_entering = [&] { placed.id.reset(); };

  EXPECT_EQ(errno_of(channel_->try_get()), EAGAIN);

  transport_.raise(*other.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(runtime_.units(), 1u) << "readable again for the next event";
  EXPECT_THAT(next(), ConcernsId(other.id.get()));
}

TEST_F(EventChannelTest, AFetcherWhoseEventVanishesTakesTheNextOne) {
  Placed placed = place(Place::kConnect);
  Placed other = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  runtime_.when_entering = [&] {
    placed.id.reset();
    transport_.raise(*other.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  };

  EXPECT_THAT(next(), ConcernsId(other.id.get()));

  EXPECT_EQ(runtime_.units(), 0u) << "readable exactly while events wait";
}

TEST_F(EventChannelTest, IsReadableExactlyWhileEventsWait) {
  Placed placed = place(Place::kConnect);
  EXPECT_EQ(runtime_.units(), 0u);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ESTABLISHED);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(runtime_.units(), 2u);

  next().ack();
  EXPECT_EQ(runtime_.units(), 1u);
  placed.id.reset();
  EXPECT_EQ(runtime_.units(), 0u);
}

TEST_F(EventChannelTest, AnObserverSeesEachEventQueuedAndFetchedOnce) {
  using enum transport::EventObserver::Step;
  Placed listening = listener();
  const std::uint64_t number = listening.id->number();
  Notes notes;
  transport_.set_event_observer(&notes);
  std::unique_ptr<EventChannel> other = EventChannel::create(transport_).value();

  transport_.request(*listening.endpoint);
  EXPECT_TRUE(listening.id->migrate(*other));
  EXPECT_EQ(errno_of(other->try_get()), 0);

  EXPECT_THAT(
      notes.taken,
      ElementsAre(Notes::Note{kQueued, number + 1, number, RDMA_CM_EVENT_CONNECT_REQUEST},
                  Notes::Note{kFetched, number + 1, number, RDMA_CM_EVENT_CONNECT_REQUEST}));
}

TEST_F(EventChannelTest, DestroyingTheChannelEndsItsIds) {
  Placed placed = place(Place::kConnect);
  Placed listening = listener();
  MockEndpoint* child = transport_.request(*listening.endpoint);
  ::testing::InSequence oldest_first;
  EXPECT_CALL(*placed.endpoint, destroyed());
  EXPECT_CALL(*listening.endpoint, destroyed());
  EXPECT_CALL(*child, destroyed());

  channel_.reset();

  EXPECT_EQ(placed.id->channel(), nullptr);
  EXPECT_EQ(errno_of(placed.id->disconnect()), ENOENT);
}

TEST_F(EventChannelTest, AFetchedEventOutlivesItsChannel) {
  Placed placed = place(Place::kConnect);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);
  Event event = next();

  channel_.reset();

  EXPECT_THAT(event, EventIs(RDMA_CM_EVENT_DISCONNECTED));
  event.ack();
  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);
}

TEST_F(EventChannelTest, AnEventCostsNoAllocationInSteadyState) {
  Placed placed = place(Place::kConnect);
  const std::vector<std::uint8_t> data(196, 1);
  const EndpointEvent response{
      .type = RDMA_CM_EVENT_CONNECT_RESPONSE, .status = 0, .conn = {}, .private_data = data};
  const auto pass_one = [&] {
    transport_.raise(*placed.endpoint, response);
    return channel_->try_get().has_value();  // acknowledged at once
  };
  ASSERT_TRUE(pass_one());
  const std::size_t before = allocations;

  bool all_passed = true;
  for (int i = 0; i < 1000; ++i) all_passed = pass_one() && all_passed;

  EXPECT_TRUE(all_passed);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace anyrdma::cm::testing
