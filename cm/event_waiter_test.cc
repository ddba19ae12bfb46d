#include "cm/event_waiter.h"

#include <memory>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

/// Counts its calls; takes when it is told to.
class Waiter final : public EventWaiter {
 public:
  explicit Waiter(verbs::testing::FakeRuntime& runtime) : runtime_(runtime) {}
  int calls = 0;

 private:
  void on_ready() noexcept override {
    EXPECT_TRUE(runtime_.inside());
    ++calls;
  }

  verbs::testing::FakeRuntime& runtime_;
};

class EventWaiterTest : public CmTest {
 protected:
  /// One more event in the channel: a request to the listener.
  void raise() { transport_.request(*listening_.endpoint); }

  Placed listening_ = listener();
  Waiter first_{runtime_};
  Waiter second_{runtime_};
};

TEST_F(EventWaiterTest, IsCalledWhenAnEventComes) {
  first_.wait(*channel_);
  EXPECT_EQ(first_.calls, 0);

  raise();

  EXPECT_EQ(first_.calls, 1);
  EXPECT_THAT(first_.take().value(), EventIs(RDMA_CM_EVENT_CONNECT_REQUEST));
}

TEST_F(EventWaiterTest, IsCalledAtOnceWhenAnEventIsThere) {
  raise();

  first_.wait(*channel_);

  EXPECT_EQ(first_.calls, 1);
  EXPECT_TRUE(first_.take());
}

TEST_F(EventWaiterTest, OneEventCallsOneWaiterAndTheFirstFirst) {
  first_.wait(*channel_);
  second_.wait(*channel_);

  raise();
  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(second_.calls, 0);

  raise();
  EXPECT_EQ(second_.calls, 1);
  EXPECT_TRUE(first_.take());
  EXPECT_TRUE(second_.take());
}

TEST_F(EventWaiterTest, ACalledWaiterDoesNotKeepTheEventFromGet) {
  first_.wait(*channel_);
  raise();

  EXPECT_TRUE(channel_->get());
}

TEST_F(EventWaiterTest, WhoseEventWasTakenWaitsAgainBeforeAllOthers) {
  first_.wait(*channel_);
  second_.wait(*channel_);
  raise();
  EXPECT_TRUE(channel_->try_get());

  EXPECT_EQ(errno_of(first_.take()), EAGAIN);
  raise();

  EXPECT_EQ(first_.calls, 2);
  EXPECT_EQ(second_.calls, 0);
  EXPECT_TRUE(first_.take());
}

TEST_F(EventWaiterTest, CancellingAWaitingOneCallsIt) {
  first_.wait(*channel_);
  second_.wait(*channel_);

  first_.cancel();
  raise();

  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(errno_of(first_.take()), ECANCELED);
  EXPECT_TRUE(second_.take());
}

TEST_F(EventWaiterTest, CancellingACalledOneLosesNoEvent) {
  first_.wait(*channel_);
  raise();

  first_.cancel();

  EXPECT_EQ(first_.calls, 1);
  EXPECT_TRUE(first_.take());
}

TEST_F(EventWaiterTest, CancellingACalledOneWhoseEventIsGoneEndsIt) {
  first_.wait(*channel_);
  raise();
  EXPECT_TRUE(channel_->try_get());

  first_.cancel();

  EXPECT_EQ(errno_of(first_.take()), ECANCELED);
  raise();
  EXPECT_EQ(first_.calls, 1);
}

TEST_F(EventWaiterTest, ACalledOneThatGoesAwayLeavesTheEventToTheNext) {
  auto leaver = std::make_unique<Waiter>(runtime_);
  leaver->wait(*channel_);
  second_.wait(*channel_);
  raise();

  leaver.reset();

  EXPECT_EQ(second_.calls, 1);
  EXPECT_TRUE(second_.take());
}

TEST_F(EventWaiterTest, AWaitingOneThatGoesAwayIsForgotten) {
  auto leaver = std::make_unique<Waiter>(runtime_);
  leaver->wait(*channel_);

  leaver.reset();
  raise();

  EXPECT_TRUE(channel_->try_get());
}

TEST_F(EventWaiterTest, ClosingTheChannelEndsAllWaiters) {
  first_.wait(*channel_);
  second_.wait(*channel_);
  raise();

  channel_->close();

  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(second_.calls, 1);
  EXPECT_EQ(errno_of(first_.take()), ECANCELED);
  EXPECT_EQ(errno_of(second_.take()), ECANCELED);
}

TEST_F(EventWaiterTest, AClosedChannelIsNotWaitedFor) {
  channel_->close();

  first_.wait(*channel_);

  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(errno_of(first_.take()), ECANCELED);
}

TEST_F(EventWaiterTest, WaitersOutliveTheirChannel) {
  first_.wait(*channel_);
  second_.wait(*channel_);
  raise();

  channel_.reset();

  EXPECT_EQ(errno_of(first_.take()), ECANCELED);
  EXPECT_EQ(errno_of(second_.take()), ECANCELED);
}

TEST_F(EventWaiterTest, AnEventThatIsConsumedInFetchingLetsItWaitOn) {
  Placed placed = place(Place::kConnect);
  ibv_qp_init_attr attributes = qp_attributes();
  EXPECT_TRUE(placed.id->create_qp(nullptr, &attributes));
  EXPECT_CALL(*placed.endpoint, qp_transition(_)).WillRepeatedly(Return(errno_code(EINVAL)));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_ERROR));
  first_.wait(*channel_);

  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_EQ(errno_of(first_.take()), EAGAIN);
  raise();
  EXPECT_TRUE(first_.take());
  EXPECT_TRUE(placed.id->destroy_qp());
}

}  // namespace
}  // namespace anyrdma::cm::testing
