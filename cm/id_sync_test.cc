// Synchronous ids (L/cma.c:ucma_complete): what the blocking calls wait for and make of it.
#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

class SyncTest : public CmTest {
 protected:
  Placed make_sync(rdma_port_space space = RDMA_PS_TCP) {
    Placed placed;
    placed.id = Id::create_synchronous(transport_, space, nullptr).value();
    placed.endpoint = &transport_.last();
    placed.handler = &placed.endpoint->handler();
    return placed;
  }
  /// The next blocking call finds an event of this type.
  void answer(const Placed& placed, rdma_cm_event_type type, int status = 0) {
    runtime_.when_blocked = [this, placed = placed.endpoint, type, status] {
      transport_.raise(*placed, type, status);
    };
  }
  Result<void> resolve_addr(Placed& placed) {
    return placed.id->resolve_addr(nullptr, raw(there_), kTimeout);
  }
  Placed routed() {
    Placed placed = make_sync();
    answer(placed, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_TRUE(resolve_addr(placed));
    answer(placed, RDMA_CM_EVENT_ROUTE_RESOLVED);
    EXPECT_TRUE(placed.id->resolve_route(kTimeout));
    return placed;
  }
  Placed connected() {
    Placed placed = routed();
    answer(placed, RDMA_CM_EVENT_CONNECT_RESPONSE);
    const rdma_conn_param param{};
    EXPECT_TRUE(placed.id->connect(&param));
    return placed;
  }
  Placed sync_listener() {
    Placed placed = make_sync();
    EXPECT_TRUE(placed.id->bind(raw(here_)));
    EXPECT_TRUE(placed.id->listen(10));
    return placed;
  }
  static rdma_cm_event_type kept(const Placed& placed) { return placed.id->raw()->event->event; }
};

TEST_F(SyncTest, ANewSyncIdHasAChannelOfItsOwnAndNoEvent) {
  Placed placed = make_sync();

  EXPECT_TRUE(placed.id->is_synchronous());
  EXPECT_NE(placed.id->channel(), channel_.get());
  EXPECT_EQ(placed.id->raw()->channel, placed.id->channel()->raw());
  EXPECT_EQ(placed.id->raw()->event, nullptr);
}

TEST_F(SyncTest, CreationFailsWithoutDeviceOrDescriptors) {
  runtime_.refuse_semaphores(1);
  EXPECT_EQ(errno_of(Id::create_synchronous(transport_, RDMA_PS_TCP, nullptr)), EMFILE);

  NiceMock<MockTransport> bare(runtime_, provider_);
  bare.remove_devices();
  EXPECT_EQ(errno_of(Id::create_synchronous(bare, RDMA_PS_TCP, nullptr)), ENODEV);
}

TEST_F(SyncTest, CreationPassesTheTransportsRefusalOn) {
  EXPECT_CALL(transport_, create_endpoint)
      .WillOnce([](auto...) -> Result<std::unique_ptr<transport::Endpoint>> {
        return errno_code(ENOMEM);
      });

  EXPECT_EQ(errno_of(Id::create_synchronous(transport_, RDMA_PS_TCP, nullptr)), ENOMEM);
}

TEST_F(SyncTest, ResolveAddrReturnsWhenTheAddressIsResolvedAndTheIdFilled) {
  Placed placed = make_sync();
  answer(placed, RDMA_CM_EVENT_ADDR_RESOLVED);

  EXPECT_EQ(errno_of(resolve_addr(placed)), 0);

  EXPECT_EQ(runtime_.blocked, 1u);
  EXPECT_EQ(placed.id->raw()->verbs, provider_.context());
  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST_F(SyncTest, EachBlockingCallAcknowledgesTheEventOfTheOneBefore) {
  Placed placed = routed();

  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_ROUTE_RESOLVED);
  EXPECT_EQ(placed.id->ledger().fetched, 2u);
  EXPECT_EQ(placed.id->ledger().acknowledged, 1u);
}

TEST_F(SyncTest, ANegativeStatusBecomesItsErrnoAndTheEventStays) {
  Placed placed = make_sync();
  answer(placed, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);

  EXPECT_EQ(errno_of(resolve_addr(placed)), ETIMEDOUT);

  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_ADDR_ERROR);
  answer(placed, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(errno_of(resolve_addr(placed)), 0);
}

TEST_F(SyncTest, ARejectedConnectionIsEconnrefusedWhateverTheReason) {
  Placed placed = routed();
  answer(placed, RDMA_CM_EVENT_REJECTED, 8);
  const rdma_conn_param param{};

  EXPECT_EQ(errno_of(placed.id->connect(&param)), ECONNREFUSED);

  EXPECT_EQ(placed.id->raw()->event->status, 8);
}

TEST_F(SyncTest, APositiveStatusOfAnotherEventIsTheErrno) {
  Placed placed = routed();
  answer(placed, RDMA_CM_EVENT_UNREACHABLE, 2);
  const rdma_conn_param param{};

  EXPECT_EQ(errno_of(placed.id->connect(&param)), 2);
}

TEST_F(SyncTest, AcceptSucceedsOnADisconnectedBecauseOnlyTheStatusCounts) {
  Placed listening = sync_listener();
  MockEndpoint* endpoint = transport_.request(*listening.endpoint);
  std::unique_ptr<Id> child = listening.id->get_request().value();
  runtime_.when_blocked = [&] { transport_.raise(*endpoint, RDMA_CM_EVENT_DISCONNECTED); };
  const rdma_conn_param param{};

  EXPECT_EQ(errno_of(child->accept(&param)), 0);

  EXPECT_EQ(child->raw()->event->event, RDMA_CM_EVENT_DISCONNECTED);
}

TEST_F(SyncTest, ASecondDisconnectConsumesTheTimewaitExit) {
  Placed placed = connected();
  answer(placed, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(errno_of(placed.id->disconnect()), 0);

  answer(placed, RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_EQ(errno_of(placed.id->disconnect()), 0);

  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

TEST_F(SyncTest, ARefusedCallDoesNotWaitAndKeepsTheEvent) {
  Placed placed = routed();
  ON_CALL(*placed.endpoint, admits).WillByDefault(Return(Result<void>(errno_code(EINVAL))));

  EXPECT_EQ(errno_of(resolve_addr(placed)), EINVAL);

  EXPECT_EQ(runtime_.blocked, 2u) << "the two of routed()";
  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_ROUTE_RESOLVED);
}

TEST_F(SyncTest, ACallThatNobodyAnswersIsADeadlockInTheSimulator) {
  Placed placed = make_sync();

  EXPECT_EQ(errno_of(resolve_addr(placed)), EDEADLK);

  EXPECT_EQ(placed.id->raw()->event, nullptr);
}

TEST_F(SyncTest, BindListenAndRejectNeverWait) {
  Placed listening = sync_listener();
  transport_.request(*listening.endpoint);
  std::unique_ptr<Id> child = listening.id->get_request().value();

  EXPECT_EQ(errno_of(child->reject({})), 0);

  EXPECT_EQ(runtime_.blocked, 0u);
}

TEST_F(SyncTest, AcceptingADatagramRequestAcknowledgesItsEventAndDoesNotWait) {
  Placed listening = make_sync(RDMA_PS_UDP);
  EXPECT_TRUE(listening.id->bind(raw(here_)));
  EXPECT_TRUE(listening.id->listen(10));
  transport_.request(*listening.endpoint);
  std::unique_ptr<Id> child = listening.id->get_request().value();
  rdma_conn_param param{};
  param.qp_num = 0x77;

  EXPECT_EQ(errno_of(child->accept(&param)), 0);

  EXPECT_EQ(runtime_.blocked, 0u);
  EXPECT_EQ(child->raw()->event, nullptr);
  EXPECT_EQ(listening.id->ledger().acknowledged, 1u);
}

// --- get_request --------------------------------------------------------------------------------

TEST_F(SyncTest, GetRequestIsForSynchronousListenersOnly) {
  Placed placed = listener();

  EXPECT_EQ(errno_of(placed.id->get_request()), EINVAL);
}

TEST_F(SyncTest, GetRequestGivesASynchronousChildThatHoldsItsEvent) {
  Placed listening = sync_listener();
  runtime_.when_blocked = [&] { transport_.request(*listening.endpoint); };

  std::unique_ptr<Id> child = listening.id->get_request().value();

  EXPECT_TRUE(child->is_synchronous());
  EXPECT_NE(child->channel(), listening.id->channel());
  EXPECT_EQ(child->raw()->event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(child->raw()->event->id, child->raw());
  EXPECT_EQ(child->raw()->event->listen_id, listening.id->raw());
  EXPECT_EQ(listening.id->raw()->event, nullptr);
}

TEST_F(SyncTest, AnUnexpectedEventIsParkedOnTheListenerUntilTheNextCall) {
  Placed listening = sync_listener();
  transport_.raise(*listening.endpoint, RDMA_CM_EVENT_ADDR_CHANGE);
  transport_.request(*listening.endpoint);

  EXPECT_EQ(errno_of(listening.id->get_request()), EINVAL);
  EXPECT_EQ(kept(listening), RDMA_CM_EVENT_ADDR_CHANGE);

  EXPECT_TRUE(listening.id->get_request());
  EXPECT_EQ(listening.id->raw()->event, nullptr);
}

TEST_F(SyncTest, ARequestWhoseChannelCannotBeMadeIsRejectedAndTheWaitGoesOn) {
  Placed listening = sync_listener();
  MockEndpoint* refused = transport_.request(*listening.endpoint);
  MockEndpoint* second = transport_.request(*listening.endpoint);
  EXPECT_CALL(*refused, destroyed());
  runtime_.refuse_semaphores(1);

  std::unique_ptr<Id> child = listening.id->get_request().value();

  transport_.raise(*second, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(listening.id->ledger().acknowledged, 1u);
}

TEST_F(SyncTest, ChildrenOutliveTheirListener) {
  Placed listening = sync_listener();
  MockEndpoint* endpoint = transport_.request(*listening.endpoint);
  std::unique_ptr<Id> child = listening.id->get_request().value();
  runtime_.when_blocked = [&] { transport_.raise(*endpoint, RDMA_CM_EVENT_ESTABLISHED); };
  const rdma_conn_param param{};
  EXPECT_TRUE(child->accept(&param));

  EXPECT_EQ(errno_of(Id::destroy(std::move(listening.id))), 0);

  runtime_.when_blocked = [&] { transport_.raise(*endpoint, RDMA_CM_EVENT_DISCONNECTED); };
  EXPECT_EQ(errno_of(child->disconnect()), 0);
}

// --- migration and destruction ------------------------------------------------------------------

TEST_F(SyncTest, MigrationToAChannelMakesTheIdAsynchronousAndAcknowledgesItsEvent) {
  Placed placed = routed();
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_CHANGE);

  EXPECT_EQ(errno_of(placed.id->migrate(*channel_)), 0);

  EXPECT_FALSE(placed.id->is_synchronous());
  EXPECT_EQ(placed.id->raw()->channel, channel_->raw());
  EXPECT_EQ(placed.id->raw()->event, nullptr);
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ADDR_CHANGE)) << "unfetched events come along";
  const rdma_conn_param param{};
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0) << "without waiting";
  EXPECT_EQ(runtime_.blocked, 2u);
}

TEST_F(SyncTest, MigrationToNoChannelMakesTheIdSynchronous) {
  Placed placed = place(Place::kRouteResolved);
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_CHANGE);

  EXPECT_EQ(errno_of(placed.id->make_synchronous()), 0);

  EXPECT_TRUE(channel_is_empty());
  const rdma_conn_param param{};
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0);
  EXPECT_EQ(kept(placed), RDMA_CM_EVENT_ADDR_CHANGE) << "the next event of any type";
}

TEST_F(SyncTest, ASynchronousIdCannotBecomeSynchronous) {
  Placed placed = make_sync();

  EXPECT_EQ(errno_of(placed.id->make_synchronous()), EINVAL);
}

TEST_F(SyncTest, WithoutDescriptorsAnIdStaysOnItsChannel) {
  Placed placed = place(Place::kRouteResolved);
  runtime_.refuse_semaphores(1);

  EXPECT_EQ(errno_of(placed.id->make_synchronous()), EMFILE);

  EXPECT_EQ(placed.id->channel(), channel_.get());
}

TEST_F(SyncTest, DestructionAcknowledgesTheEventKept) {
  Placed placed = connected();

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);

  EXPECT_EQ(runtime_.blocked, 3u) << "the three blocking calls, and no wait for acknowledgements";
}

}  // namespace
}  // namespace anyrdma::cm::testing
