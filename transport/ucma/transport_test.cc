// The translation between our interface and librdmacm's, without threads: events are taken when the
// test says so.
#include "transport/ucma/transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <limits>

#include "transport/ucma/testing/fake_system.h"
#include "verbs/ibv/pass_through.h"
#include "verbs/testing/errno_of.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::transport::ucma {
namespace {

using verbs::testing::errno_of;

/// Keeps what it hears.
class Handler : public EndpointHandler {
 public:
  void on_event(const EndpointEvent& event) override {
    events.push_back(event);
    data.assign(event.private_data.begin(), event.private_data.end());
    if (event.ud != nullptr) ud = *event.ud;
    if (to_leave != nullptr) (void)to_leave->leave_multicast(event.membership).has_value();
  }
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                      const EndpointEvent& event) override {
    ++offers;
    if (room == 0) return nullptr;
    --room;
    on_event(event);
    children.push_back(std::move(child));
    return &of_children();
  }
  Handler& of_children() {
    if (child_handler == nullptr) child_handler = std::make_unique<Handler>();
    return *child_handler;
  }

  std::vector<EndpointEvent> events;  ///< their pointers are not valid any more
  std::vector<std::uint8_t> data;     ///< of the last one
  rdma_ud_param ud{};
  int room = 1000;
  int offers = 0;
  Endpoint* to_leave = nullptr;  ///< leaves the group that an event speaks of
  std::vector<std::unique_ptr<Endpoint>> children;
  std::unique_ptr<Handler> child_handler;
};

class UcmaTransportTest : public ::testing::Test {
 protected:
  UcmaTransportTest() { EXPECT_TRUE(transport.open()); }
  std::unique_ptr<Endpoint> make(rdma_port_space space = RDMA_PS_TCP) {
    const ibv_qp_type type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
    return transport.create_endpoint(space, type, handler).value();
  }
  /// An endpoint whose id has a device.
  std::unique_ptr<Endpoint> make_bound(rdma_port_space space = RDMA_PS_TCP) {
    auto endpoint = make(space);
    fake.bind_to_device(fake.last_id());
    return endpoint;
  }
  rdma_cm_event event(rdma_cm_event_type type, int status = 0) {
    rdma_cm_event raised{};
    raised.id = &fake.last_id();
    raised.event = type;
    raised.status = status;
    return raised;
  }
  void deliver(const rdma_cm_event& raised) {
    fake.raise(raised);
    transport.take_events();
  }
  void request_for(rdma_cm_id& listener) {
    rdma_cm_event raised{};
    raised.event = RDMA_CM_EVENT_CONNECT_REQUEST;
    raised.listen_id = &listener;
    deliver(raised);
  }

  testing::FakeSystem fake;
  const CmFunctions functions = testing::FakeSystem::cm_functions();
  verbs::ibv::PassThrough provider{testing::FakeSystem::verbs_functions()};
  verbs::testing::FakeRuntime runtime;
  Handler handler;
  UcmaTransport transport{functions, provider, runtime};
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 1, .sin_addr = {1}, .sin_zero = {}};
  const sockaddr& somewhere = reinterpret_cast<const sockaddr&>(address);
};

// --- events -------------------------------------------------------------------------------------

TEST_F(UcmaTransportTest, AnEventIsAcknowledgedBeforeAnybodyHearsOfIt) {
  const auto endpoint = make();
  handler.to_leave = endpoint.get();  // a call from within the upcall
  deliver(event(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT));

  ASSERT_EQ(handler.events.size(), 1u);
  EXPECT_EQ(handler.events[0].type, RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(handler.events[0].status, -ETIMEDOUT);
  EXPECT_EQ(fake.unacknowledged(), 0);
}

TEST_F(UcmaTransportTest, AResponseCarriesItsParametersDataAndEce) {
  const auto endpoint = make();
  const std::array<std::uint8_t, 196> data{7};
  rdma_cm_event response = event(RDMA_CM_EVENT_CONNECT_RESPONSE);
  response.param.conn.private_data = data.data();
  response.param.conn.private_data_len = 196;
  response.param.conn.responder_resources = 3;
  response.param.conn.qp_num = 0x1234;
  fake.remote_ece = {.vendor_id = 9, .options = 8, .comp_mask = 0};
  deliver(response);

  ASSERT_EQ(handler.events.size(), 1u);
  EXPECT_EQ(handler.events[0].conn.responder_resources, 3);
  EXPECT_EQ(handler.events[0].conn.qp_num, 0x1234u);
  EXPECT_EQ(handler.events[0].ece.vendor_id, 9u);
  EXPECT_EQ(handler.events[0].ece.options, 8u);
  EXPECT_EQ(handler.data, std::vector<std::uint8_t>(data.begin(), data.end()));
}

TEST_F(UcmaTransportTest, EventsOfDatagramServicesSpeakOfDatagrams) {
  const auto endpoint = make(RDMA_PS_UDP);
  const std::array<std::uint8_t, 3> data{1, 2, 3};
  rdma_cm_event established = event(RDMA_CM_EVENT_ESTABLISHED);
  established.param.ud.private_data = data.data();
  established.param.ud.private_data_len = 3;
  established.param.ud.qkey = 0x5;
  deliver(established);

  ASSERT_EQ(handler.events.size(), 1u);
  EXPECT_EQ(handler.ud.qkey, 0x5u);
  EXPECT_EQ(handler.data, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_F(UcmaTransportTest, AMembershipIsKnownByTheNameThatItWasJoinedUnder) {
  const auto endpoint = make_bound(RDMA_PS_UDP);
  ASSERT_TRUE(
      endpoint->join_multicast(somewhere, MembershipId{77}, JoinState::kSendOnlyFullMember));
  EXPECT_EQ(fake.join_flags, static_cast<std::uint32_t>(RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER));
  rdma_cm_event joined = event(RDMA_CM_EVENT_MULTICAST_JOIN);
  joined.param.ud.private_data = reinterpret_cast<const void*>(77);  // librdmacm: our context
  deliver(joined);

  ASSERT_EQ(handler.events.size(), 1u);
  EXPECT_EQ(handler.events[0].membership, MembershipId{77});
  EXPECT_TRUE(handler.data.empty());
}

TEST_F(UcmaTransportTest, APathOfTheApplicationIsFollowedByTheKernelsEvent) {
  const auto endpoint = make_bound();
  ibv_path_data path{};
  path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
  path.path.packetlifetime = 0x80 | 18;
  const std::span value(reinterpret_cast<const std::uint8_t*>(&path), sizeof path);
  ASSERT_TRUE(endpoint->set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, value));

  ASSERT_NE(endpoint->path(), nullptr);
  EXPECT_EQ(endpoint->path()->packet_life_time, 18);
  EXPECT_EQ(endpoint->path()->packet_life_time_selector, 2);
  EXPECT_EQ(endpoint->path()->preference, 43) << "the flags, as librdmacm shows them";
  deliver(event(RDMA_CM_EVENT_ROUTE_RESOLVED));
  EXPECT_EQ(handler.events.size(), 1u);
}

// --- requests -----------------------------------------------------------------------------------

TEST_F(UcmaTransportTest, ARequestsEndpointHearsItsEventsThroughItsOwnHandler) {
  const auto listener = make();
  ASSERT_TRUE(listener->listen(8));
  request_for(fake.last_id());

  ASSERT_EQ(handler.children.size(), 1u);
  EXPECT_EQ(handler.children[0]->binding().verbs, fake.context());
  deliver(event(RDMA_CM_EVENT_ESTABLISHED));
  EXPECT_EQ(handler.of_children().events.size(), 1u);
}

TEST_F(UcmaTransportTest, ARequestWithoutRoomWaitsAndIsOfferedWhenAnotherWasFetched) {
  const auto listener = make();
  rdma_cm_id& id = fake.last_id();
  ASSERT_TRUE(listener->listen(1));
  request_for(id);
  request_for(id);
  rdma_cm_id& second = fake.last_id();
  request_for(id);
  EXPECT_EQ(fake.living_ids(), 4u);
  transport.catch_up();
  EXPECT_EQ(handler.offers, 1) << "there is room for one";
  handler.children.clear();

  listener->on_request_fetched();
  transport.catch_up();

  ASSERT_EQ(handler.children.size(), 1u);
  rdma_cm_event established = event(RDMA_CM_EVENT_ESTABLISHED);
  established.id = &second;
  deliver(established);
  EXPECT_EQ(handler.of_children().events.size(), 1u) << "the older one went first";
}

TEST_F(UcmaTransportTest, RequestsThatWaitGoWithTheirListener) {
  auto listener = make();
  ASSERT_TRUE(listener->listen(8));
  handler.room = 0;  // the handler's word counts as well
  request_for(fake.last_id());

  listener.reset();

  EXPECT_EQ(fake.living_ids(), 0u);
  transport.catch_up();
  EXPECT_EQ(handler.offers, 1);
}

TEST_F(UcmaTransportTest, NoMoreRequestsWaitThanLinuxLets) {
  const auto listener = make();
  rdma_cm_id& id = fake.last_id();
  ASSERT_TRUE(listener->listen(0));
  handler.room = 0;
  for (int i = 0; i < 1025; ++i) request_for(id);
  EXPECT_EQ(fake.living_ids(), 1025u) << "the listener and 1024";
}

// --- calls --------------------------------------------------------------------------------------

TEST_F(UcmaTransportTest, ConnectCarriesEverythingDown) {
  const auto endpoint = make_bound();
  const std::array<std::uint8_t, 2> data{5, 6};
  ConnectionParameters parameters;
  parameters.responder_resources = 1;
  parameters.initiator_depth = 2;
  parameters.retry_count = 3;
  parameters.rnr_retry_count = 4;
  parameters.srq = 1;
  parameters.qp_num = 0x77;
  parameters.ece = {.vendor_id = 9, .options = 8, .comp_mask = 0};
  parameters.private_data = data;
  ASSERT_TRUE(endpoint->connect(parameters));

  EXPECT_EQ(fake.param.responder_resources, 1);
  EXPECT_EQ(fake.param.initiator_depth, 2);
  EXPECT_EQ(fake.param.retry_count, 3);
  EXPECT_EQ(fake.param.rnr_retry_count, 4);
  EXPECT_EQ(fake.param.srq, 1);
  EXPECT_EQ(fake.param.qp_num, 0x77u);
  EXPECT_EQ(fake.local_ece.vendor_id, 9u);
  EXPECT_EQ(fake.private_data, (std::vector<std::uint8_t>{5, 6}));
}

TEST_F(UcmaTransportTest, DataThatDoNotFitALengthByteAreRefusedHere) {
  const auto endpoint = make_bound();
  const std::vector<std::uint8_t> data(256);
  ConnectionParameters parameters;
  parameters.private_data = data;

  EXPECT_EQ(errno_of(endpoint->connect(parameters)), EINVAL);
  EXPECT_EQ(fake.calls("connect"), 0);
  EXPECT_EQ(errno_of(endpoint->reject(28, data)), EINVAL);
  EXPECT_EQ(fake.calls("reject"), 0);
  EXPECT_EQ(errno_of(endpoint->accept(parameters)), EINVAL);
  EXPECT_EQ(fake.calls("reject"), 1) << "as the kernel does when it refuses to accept";
}

TEST_F(UcmaTransportTest, CallsThatWouldCrashTheLibraryWithoutADeviceAreRefused) {
  const auto endpoint = make();
  EXPECT_EQ(errno_of(endpoint->resolve_route(std::chrono::seconds(1))), EINVAL);
  EXPECT_EQ(errno_of(endpoint->connect({})), EINVAL);
  EXPECT_EQ(errno_of(endpoint->accept({})), EINVAL);
}

TEST_F(UcmaTransportTest, EveryCallHandsTheKernelsErrnoOn) {
  const auto endpoint = make_bound(RDMA_PS_UDP);
  const auto fails = [&](const char* function, int error, auto&& call) {
    fake.fail(function, error);
    EXPECT_EQ(errno_of(call()), error) << function;
    EXPECT_EQ(errno_of(call()), 0) << function;
  };
  constexpr auto kSecond = std::chrono::seconds(1);
  fails("bind_addr", EADDRINUSE, [&] { return endpoint->bind(somewhere); });
  fails("listen", EADDRNOTAVAIL, [&] { return endpoint->listen(8); });
  fails("resolve_addr", ENETUNREACH,
        [&] { return endpoint->resolve_address(nullptr, somewhere, kSecond); });
  fails("resolve_route", ENODEV, [&] { return endpoint->resolve_route(kSecond); });
  fails("connect", EINVAL, [&] { return endpoint->connect({}); });
  fails("accept", EINVAL, [&] { return endpoint->accept({}); });
  fails("establish", EINVAL, [&] { return endpoint->establish(); });
  fails("reject", EINVAL, [&] { return endpoint->reject(28, {}); });
  fails("reject_ece", EINVAL, [&] { return endpoint->reject(35, {}); });
  fails("disconnect", ENXIO, [&] { return endpoint->disconnect(); });
  fails("notify", EISCONN, [&] { return endpoint->notify(IBV_EVENT_COMM_EST); });
  fails("init_qp_attr", EINVAL, [&] { return endpoint->qp_transition(IBV_QPS_RTR); });
  fails("set_option", ENOSYS,
        [&] { return endpoint->set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, {}); });
  fails("join_multicast_ex", 524, [&] {
    return endpoint->join_multicast(somewhere, MembershipId{1}, JoinState::kFullMember);
  });
  fails("create_id", ENOMEM,
        [&] { return transport.create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, handler); });
}

TEST_F(UcmaTransportTest, TheBacklogIsTheKernelsToReadAndLongTimeoutsAreTheMostThatFits) {
  const auto endpoint = make();
  ASSERT_TRUE(endpoint->listen(8));
  EXPECT_EQ(fake.backlog, 8);
  ASSERT_TRUE(endpoint->listen(-1));
  EXPECT_EQ(fake.backlog, -1);
  ASSERT_TRUE(endpoint->resolve_address(nullptr, somewhere, std::chrono::hours(10000)));
  EXPECT_EQ(fake.timeout_ms, std::numeric_limits<int>::max());
}

TEST_F(UcmaTransportTest, AGroupIsLeftByItsAddressAndOnlyOnce) {
  const auto endpoint = make_bound(RDMA_PS_UDP);
  ASSERT_TRUE(endpoint->join_multicast(somewhere, MembershipId{1}, JoinState::kFullMember));
  EXPECT_EQ(errno_of(endpoint->leave_multicast(MembershipId{2})), EADDRNOTAVAIL);
  EXPECT_TRUE(endpoint->leave_multicast(MembershipId{1}));
  EXPECT_EQ(reinterpret_cast<sockaddr_in&>(fake.left).sin_addr.s_addr, address.sin_addr.s_addr);
  EXPECT_EQ(errno_of(endpoint->leave_multicast(MembershipId{1})), EADDRNOTAVAIL);
}

TEST_F(UcmaTransportTest, ATransitionAsksForItsState) {
  const auto endpoint = make_bound();
  const QpTransition step = endpoint->qp_transition(IBV_QPS_RTR).value();
  EXPECT_EQ(step.attr.qp_state, IBV_QPS_RTR);
  EXPECT_EQ(step.attr.rq_psn, 17u);
  EXPECT_EQ(step.mask, IBV_QP_STATE | IBV_QP_RQ_PSN);
}

TEST_F(UcmaTransportTest, TheLibraryHasOneQueuePairTypeForAPortSpace) {
  EXPECT_EQ(errno_of(transport.create_endpoint(RDMA_PS_IB, IBV_QPT_UD, handler)), EOPNOTSUPP);
}

// --- devices ------------------------------------------------------------------------------------

TEST_F(UcmaTransportTest, DevicesAreThoseTheLibraryHasOpen) {
  ASSERT_EQ(transport.devices().size(), 1u);
  EXPECT_EQ(transport.devices()[0], fake.device());
  EXPECT_EQ(transport.context_of(fake.device()), fake.context());
  EXPECT_EQ(&transport.provider_of(fake.device()), &provider);
}

TEST_F(UcmaTransportTest, ADeviceThatIsGoneIsNotListedButKeepsItsContext) {
  ibv_device* const device = transport.devices()[0];
  fake.remove_devices();
  EXPECT_TRUE(transport.devices().empty());
  EXPECT_EQ(transport.context_of(device), fake.context());
}

}  // namespace
}  // namespace anyrdma::transport::ucma
