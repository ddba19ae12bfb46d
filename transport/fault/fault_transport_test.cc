// The decorator alone: GoogleMock below, a hand for the clock, nobody above but a handler.
#include "transport/fault/fault_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "transport/event_name.h"
#include "transport/testing/mock_transport.h"
#include "verbs/testing/errno_of.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::fault {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::NiceMock;
using transport::Endpoint;
using transport::EndpointEvent;
using transport::EndpointHandler;
using transport::testing::ipv4;
using transport::testing::MockEndpoint;
using transport::testing::MockTransport;
using verbs::testing::errno_of;

/// What cm would be.
class Above final : public EndpointHandler {
 public:
  void on_event(const EndpointEvent& event) override {
    seen.push_back(std::string(transport::short_event_name(event.type)) + " " +
                   std::to_string(event.status));
    data.assign(event.private_data.begin(), event.private_data.end());
    if (when_event) when_event();
  }
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                      const EndpointEvent& event) override {
    if (room == 0) return nullptr;
    --room;
    on_event(event);
    children.push_back(std::move(child));
    return this;
  }

  std::function<void()> when_event;
  std::vector<std::string> seen;
  std::vector<std::uint8_t> data;
  std::vector<std::unique_ptr<Endpoint>> children;
  int room = 8;
};

/// Draws zeros and highest numbers in turn.
class Alternating final : public verbs::Random {
 public:
  std::uint64_t next() override { return (odd_ = !odd_) ? ~std::uint64_t{0} : 0; }

 private:
  bool odd_ = false;
};

/// Concludes as a driver does, once.
class ConcludingRuntime final : public verbs::testing::FakeRuntime {
 public:
  void leave() override {
    if (std::exchange(conclusion_called, false)) conclude();
    FakeRuntime::leave();
  }
  std::function<void()> conclude;
  bool conclusion_called = false;
};

class TestGround final : public Ground {
 public:
  explicit TestGround(ConcludingRuntime& runtime) : runtime_(runtime) {}
  Effect carry_out(const FaultAction&) override {
    EXPECT_TRUE(runtime_.inside());
    ++carried_out;
    counted_before = counted;
    return effect;
  }
  void on_fired(const FaultStatus& fault) override { fired.push_back(to_string(fault.fault)); }
  void on_counted(std::size_t index, const FaultStatus& fault) override {
    counted = std::to_string(index) + ": " + fault.to_string();
  }
  void call_conclusion() override { runtime_.conclusion_called = true; }
  bool is_over() const override { return over; }
  void wake() override { ++woken; }
  std::unique_ptr<verbs::Random> dice(std::string_view) override {
    return std::make_unique<Alternating>();
  }

  Effect effect = Effect::kUnknown;
  bool over = false;
  std::vector<std::string> fired;
  int carried_out = 0;
  std::string counted;         ///< the account that changed last
  std::string counted_before;  ///< the last action
  int woken = 0;

 private:
  ConcludingRuntime& runtime_;
};

class Faulty : public ::testing::Test {
 protected:
  Faulty() { std::strcpy(provider_.devices().front()->name, "fake0"); }
  void plan(const std::string& text) {
    faults_ = std::make_unique<FaultTransport>(below_, FaultPlan::parse(text).value(), ground_);
    runtime_.conclude = [this] { faults_->conclude(); };
    const verbs::CriticalSection section(runtime_);
    endpoint_ = create();
    mock_ = &below_.last();
    mock_->bound = transport::testing::resolved_binding(context_);
  }
  std::unique_ptr<Endpoint> create() {
    return faults_->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, above_).value();
  }
  ~Faulty() override {
    const verbs::CriticalSection section(runtime_);
    above_.children.clear();
    endpoint_.reset();
  }
  void advance(verbs::Duration by) {
    runtime_.advance(by);
    faults_->on_timer(runtime_.now());
  }
  template <class Call>
  auto inside(Call call) {
    const verbs::CriticalSection section(runtime_);
    return call();
  }
  [[nodiscard]] FaultStatus status(std::size_t index = 0) { return faults_->status().at(index); }
  /// What cm says of its events.
  void observe(transport::EventObserver::Step step, std::uint64_t id, rdma_cm_event_type type) {
    rdma_cm_event event{};
    event.event = type;
    const auto say = [&] { faults_->event_observer()->on_event(step, id, 0, event); };
    if (step == transport::EventObserver::Step::kFetched) return say();
    inside([&] { say(); });
  }

  ConcludingRuntime runtime_;
  verbs::testing::FakeProvider provider_{runtime_};
  NiceMock<MockTransport> below_{runtime_, provider_};
  ibv_context* context_ = provider_.open_device(provider_.devices().front()).value();
  TestGround ground_{runtime_};
  Above above_;
  std::unique_ptr<FaultTransport> faults_;
  std::unique_ptr<Endpoint> endpoint_;
  MockEndpoint* mock_ = nullptr;
};

TEST_F(Faulty, RequestIsRejectedBelowAndNeverComesUp) {
  plan("on h request 2: reject 28 6e6f");

  EXPECT_NE(below_.request(*mock_), nullptr);
  EXPECT_EQ(above_.children.size(), 1u);
  EXPECT_NE(below_.request(*mock_), nullptr);  // taken, but by nobody

  EXPECT_EQ(above_.children.size(), 1u);
  EXPECT_EQ(status().armed, 2u);
  EXPECT_EQ(status().observed, 1u);
  EXPECT_THAT(ground_.fired, ElementsAre("on h request 2: reject 28 6e6f"));
  EXPECT_GT(ground_.woken, 0);
  advance(0s);  // the rejected endpoint ends now
  EXPECT_EQ(inside([&] { return faults_->next_deadline(); }), std::nullopt);
}

TEST_F(Faulty, ARejectedRequestTakesNoRoomInTheBacklog) {
  plan("on h request 1: reject 28");
  EXPECT_CALL(*mock_, on_request_fetched());

  EXPECT_NE(below_.request(*mock_), nullptr);
}

TEST_F(Faulty, RequestIsForgotten) {
  plan("on h request 1: overflow");

  EXPECT_EQ(below_.request(*mock_), nullptr);
  EXPECT_NE(below_.request(*mock_), nullptr);

  EXPECT_EQ(above_.children.size(), 1u);
}

TEST_F(Faulty, RequestsAreSomebodyElsesWhenTheyAreSeenBelow) {
  faults_ = std::make_unique<FaultTransport>(
      below_, FaultPlan::parse("on h request 1: overflow").value(), ground_, RequestsSeen::kBelow);
  endpoint_ = inside([&] { return create(); });

  EXPECT_NE(below_.request(below_.last()), nullptr);
  EXPECT_EQ(status().armed, 0u);
  EXPECT_TRUE(inside([&] { return faults_->next_refusal(); })->forgotten);
  EXPECT_FALSE(inside([&] { return faults_->next_refusal(); }));
}

TEST_F(Faulty, EventIsHeldAndWhatComesBehindItWaits) {
  plan("on h queued ROUTE_RESOLVED 1: hold 5ms");
  const std::vector<std::uint8_t> data{1, 2, 3};

  below_.raise(*mock_, RDMA_CM_EVENT_ADDR_RESOLVED);
  below_.raise(*mock_, RDMA_CM_EVENT_ROUTE_RESOLVED);
  below_.raise(*mock_,
               {.type = RDMA_CM_EVENT_REJECTED, .status = 8, .conn = {}, .private_data = data});
  EXPECT_THAT(above_.seen, ElementsAre("ADDR_RESOLVED 0"));
  EXPECT_EQ(inside([&] { return faults_->next_deadline(); }), runtime_.now() + 5ms);
  advance(4ms);
  EXPECT_THAT(above_.seen, ElementsAre("ADDR_RESOLVED 0"));
  advance(1ms);

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_RESOLVED 0", "ROUTE_RESOLVED 0", "REJECTED 8"));
  EXPECT_EQ(above_.data, data);
}

TEST_F(Faulty, HeldRequestKeepsItsEventsBehindItAndWaitsForRoom) {
  plan("on h queued CONNECT_REQUEST 1: hold 1s");
  above_.room = 0;
  MockEndpoint* const child = below_.request(*mock_);
  ASSERT_NE(child, nullptr);
  below_.raise(*child, RDMA_CM_EVENT_REJECTED, 4);

  advance(1s);
  EXPECT_THAT(above_.seen, IsEmpty());
  above_.room = 1;
  advance(50ms);
  advance(0s);

  EXPECT_THAT(above_.seen, ElementsAre("CONNECT_REQUEST 0", "REJECTED 4"));
}

TEST_F(Faulty, HeldRequestEndsWithItsListener) {
  plan("on h queued CONNECT_REQUEST 1: hold 1s");
  MockEndpoint* const child = below_.request(*mock_);
  EXPECT_CALL(*child, destroyed);

  inside([&] { endpoint_.reset(); });

  advance(2s);
  EXPECT_THAT(above_.seen, IsEmpty());
}

TEST_F(Faulty, DeviceIsRemovedWithItsIdsAndStaysAway) {
  plan("at 2s: remove h fake0");
  EXPECT_CALL(*mock_, disconnect);

  advance(1s);
  EXPECT_THAT(above_.seen, IsEmpty());
  advance(1s);

  EXPECT_THAT(above_.seen, ElementsAre("DEVICE_REMOVAL 0"));
  below_.raise(*mock_, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_THAT(above_.seen, ElementsAre("DEVICE_REMOVAL 0"));
  EXPECT_EQ(errno_of(inside([&] { return endpoint_->disconnect(); })), ENXIO);
  EXPECT_EQ(errno_of(inside([&] { return endpoint_->resolve_route(1s); })), ENXIO);
  EXPECT_THAT(faults_->devices(), IsEmpty());
  EXPECT_EQ(status().observed, 1u);
}

// As on Linux once the last device is gone: ids are made, and listen; resolving says ENODEV.
TEST_F(Faulty, AnIdThatIsMadeWithoutADeviceListensAndResolvesToNone) {
  plan("at 0s: remove h fake0");
  advance(0s);
  above_.seen.clear();

  auto made = inside([&] { return faults_->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, above_); });

  ASSERT_TRUE(made);
  MockEndpoint& below = below_.last();
  EXPECT_CALL(below, listen(8));
  EXPECT_TRUE(inside([&] { return (*made)->listen(8); }));
  below.bound = transport::testing::resolved_binding(context_);
  below_.raise(below, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_THAT(above_.seen, ElementsAre("ADDR_ERROR -19"));
  EXPECT_EQ(inside([&] { return (*made)->binding().verbs; }), nullptr);
  inside([&] { made->reset(); });
}

TEST_F(Faulty, IdThatResolvesToARemovedDeviceLearnsThatThereIsNone) {
  plan("at 0s: remove h fake0");
  mock_->bound = {};
  advance(0s);

  mock_->bound = transport::testing::resolved_binding(context_);
  below_.raise(*mock_, RDMA_CM_EVENT_ADDR_RESOLVED);

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_ERROR -19"));
  const sockaddr_in here = ipv4(0x0a000001, 0);
  EXPECT_EQ(
      errno_of(inside([&] { return endpoint_->bind(reinterpret_cast<const sockaddr&>(here)); })),
      ENODEV);
}

TEST_F(Faulty, RemovalOfWhatIsNotThereIsFiredButNotObserved) {
  plan("at 0s: remove h nothing0");

  advance(0s);

  EXPECT_EQ(status().fired, 1u);
  EXPECT_EQ(status().observed, 0u);
  EXPECT_THAT(above_.seen, IsEmpty());
}

TEST_F(Faulty, AddressChangeReachesIdsWithADevice) {
  plan("at 1ms: fail-over h eth0");

  advance(1ms);

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_CHANGE 0"));
}

TEST_F(Faulty, WhatTheGroundDoesIsNotDoneTwice) {
  ground_.effect = Effect::kSome;
  plan("at 1ms: remove h fake0");

  advance(1ms);

  EXPECT_THAT(above_.seen, IsEmpty());
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(Faulty, QueuedAndFetchedEventsAndCallsAreFollowedByTheirFaultsAtOnce) {
  plan(
      "on h#1 queued ESTABLISHED 2: fail-over h eth0\n"
      "on h fetched ESTABLISHED 1: fail-over h eth0\n"
      "on h#2 call connect 1: fail-over h eth0\n");
  using Step = transport::EventObserver::Step;

  observe(Step::kQueued, 1, RDMA_CM_EVENT_ESTABLISHED);
  observe(Step::kQueued, 2, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_THAT(above_.seen, IsEmpty());
  observe(Step::kQueued, 1, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(above_.seen.size(), 1u);
  observe(Step::kFetched, 7, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(above_.seen.size(), 2u);
  inside([&] { faults_->call_observer()->on_call(1, "connect", 0); });
  inside([&] { faults_->call_observer()->on_call(2, "listen", 0); });
  EXPECT_EQ(above_.seen.size(), 2u);
  inside([&] { faults_->call_observer()->on_call(2, "connect", EINVAL); });

  EXPECT_EQ(above_.seen.size(), 3u);
  EXPECT_EQ(status(2).armed, 1u);
}

TEST_F(Faulty, NothingIsDoneWithinTheCallItself) {
  plan("on h call connect 1: fail-over h eth0");

  inside([&] {
    faults_->call_observer()->on_call(1, "connect", 0);
    EXPECT_THAT(above_.seen, IsEmpty());
  });

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_CHANGE 0"));
}

TEST_F(Faulty, WorkIsFollowedByItsFaultBeforeTheCallReturns) {
  plan("on h completion SEND 1: remove h fake0");

  EXPECT_EQ(inside([&] { return faults_->gate().on_work({.qp = 1, .qp_num = 17}); }),
            IBV_WC_SUCCESS);

  EXPECT_THAT(above_.seen, ElementsAre("DEVICE_REMOVAL 0"));
}

TEST_F(Faulty, WhatOneFaultCausesIsFollowedByTheNext) {
  plan(
      "on h call connect 1: remove h fake0\n"
      "on h queued DEVICE_REMOVAL 1: fail-over h eth0\n");
  above_.when_event = [&] {
    rdma_cm_event event{};
    event.event = RDMA_CM_EVENT_DEVICE_REMOVAL;
    faults_->event_observer()->on_event(transport::EventObserver::Step::kQueued, 1, 0, event);
  };

  inside([&] { faults_->call_observer()->on_call(1, "connect", 0); });
  EXPECT_EQ(status(0).fired, 1u);
  inside([] {});

  EXPECT_EQ(status(1).fired, 1u);
}

TEST_F(Faulty, AFaultThatCausesItselfLetsTheProgramGoOn) {
  plan("on h queued ADDR_CHANGE all: fail-over h eth0");
  above_.when_event = [&] {
    rdma_cm_event event{};
    event.event = RDMA_CM_EVENT_ADDR_CHANGE;
    faults_->event_observer()->on_event(transport::EventObserver::Step::kQueued, 1, 0, event);
  };

  observe(transport::EventObserver::Step::kQueued, 1, RDMA_CM_EVENT_ADDR_CHANGE);

  EXPECT_EQ(status().fired, 1u);
  inside([] {});  // whoever is next goes on with it
  EXPECT_EQ(status().fired, 2u);
}

TEST_F(Faulty, TheAccountIsToldBeforeTheHostDies) {
  plan("at 1s: remove h fake0\non h call connect 1: crash h");

  inside([&] { faults_->call_observer()->on_call(1, "connect", 0); });

  EXPECT_EQ(ground_.counted_before,
            "1: planned 1, armed 1, fired 1, observed 1: on h call connect 1: crash h");
  EXPECT_EQ(status(1).observed, 1u);
}

TEST_F(Faulty, WhoHasLeftIsSpared) {
  plan(
      "on h fetched ESTABLISHED 1: crash h\n"
      "on h call connect 1: fail ENOMEM\n"
      "at 1s: crash h\n"
      "on h request 1: reject 28\n"
      "on h completion SEND 1: complete RETRY_EXC_ERR");
  ground_.over = true;

  observe(transport::EventObserver::Step::kFetched, 1, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(inside([&] { return faults_->call_gate()->on_call(1, "connect"); }), 0);
  EXPECT_EQ(inside([&] { return faults_->gate().on_work({.qp = 1}); }), IBV_WC_SUCCESS);
  EXPECT_NE(below_.request(*mock_), nullptr);
  advance(1s);

  EXPECT_EQ(above_.children.size(), 1u);
  EXPECT_EQ(ground_.carried_out, 0);
  EXPECT_EQ(ground_.counted, "");
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(status(i).armed, 0u);
}

TEST_F(Faulty, WhoLeavesBetweenCauseAndFaultIsSpared) {
  plan("on h call connect 1: crash h");

  inside([&] {
    faults_->call_observer()->on_call(1, "connect", 0);
    ground_.over = true;
  });

  EXPECT_EQ(ground_.carried_out, 0);
  EXPECT_EQ(status().fired, 0u);
}

TEST_F(Faulty, CallFailsWithTheErrnoOfThePlanWhenItIsItsTurn) {
  plan("on h#2 call connect 2: fail ENOMEM\non h call alloc_pd 1: fail ENOMEM\n");
  verbs::CallGate& gate = *faults_->call_gate();
  const auto ask = [&](std::uint64_t id, const char* call) {
    return inside([&] { return gate.on_call(id, call); });
  };

  EXPECT_EQ(ask(2, "connect"), 0);
  EXPECT_EQ(ask(1, "connect"), 0);
  EXPECT_EQ(ask(2, "listen"), 0);
  EXPECT_EQ(ask(2, "connect"), ENOMEM);
  EXPECT_EQ(ask(0, "alloc_pd"), ENOMEM);
  EXPECT_EQ(ask(0, "alloc_pd"), 0);
  EXPECT_EQ(status(0).observed, 1u);
}

TEST_F(Faulty, WorkFailsAndIsObservedWhenTheProgramSeesIt) {
  plan("on h completion SEND 2: complete RETRY_EXC_ERR");
  const verbs::PostedWork work{.qp = 1, .qp_num = 17, .wr_id = 5, .length = 8};
  const auto post = [&] { return inside([&] { return faults_->gate().on_work(work); }); };

  EXPECT_EQ(post(), IBV_WC_SUCCESS);
  EXPECT_EQ(post(), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(status().observed, 0u);
  ibv_wc completion{};
  completion.qp_num = 17;
  completion.wr_id = 5;
  completion.status = IBV_WC_RETRY_EXC_ERR;
  inside([&] { faults_->gate().on_failure(completion); });

  EXPECT_EQ(status().fired, 1u);
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(Faulty, ChanceIsTheGrounds) {
  plan("on h request 50%: overflow");
  std::vector<bool> taken;

  for (int i = 0; i < 4; ++i) taken.push_back(below_.request(*mock_) != nullptr);

  EXPECT_THAT(taken, ElementsAreArray({true, false, true, false}));
}

/// REQ, REP, and what is no message.
constexpr std::uint16_t kReq = 0x10;
constexpr std::uint16_t kRep = 0x13;
constexpr std::uint16_t kNoMessage = 0;

TEST_F(Faulty, PacketsMeetWithAllThatTheirTriggersSay) {
  plan(
      "on h->g REP 1: lose\n"
      "on h->* packet 2: delay 5ms\n"
      "on h->* packet 2: duplicate\n"
      "on *->h packet 1: reorder\n"
      "on *->* packet 3: corrupt\n");
  const auto ask = [&](verbs::PacketWay way, std::uint16_t attribute) {
    return inside([&] { return faults_->packet_gate().on_packet(way, attribute, {}); });
  };

  EXPECT_FALSE(ask(verbs::PacketWay::kOut, kReq).any());
  const verbs::Mishap second = ask(verbs::PacketWay::kOut, kRep);
  const verbs::Mishap arrived = ask(verbs::PacketWay::kIn, kRep);
  const verbs::Mishap third = ask(verbs::PacketWay::kOut, kNoMessage);

  EXPECT_TRUE(second.lost);
  EXPECT_EQ(second.late, 5ms);
  EXPECT_EQ(second.copies, 1u);
  EXPECT_TRUE(arrived.overtaken);
  EXPECT_FALSE(arrived.lost);
  EXPECT_TRUE(third.corrupted);
  EXPECT_EQ(status(0).armed, 1u);
  EXPECT_EQ(status(1).armed, 3u);
  EXPECT_EQ(status(3).armed, 1u);
  EXPECT_EQ(status(4).observed, 1u);
}

TEST_F(Faulty, PacketPullsWhatHappensToTheHost) {
  plan("on h->* REQ 1: fail-over h eth0");

  EXPECT_FALSE(inside([&] {
                 return faults_->packet_gate().on_packet(verbs::PacketWay::kOut, kReq, {});
               }).any());

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_CHANGE 0"));
}

TEST_F(Faulty, FieldsOfMessagesAreAlteredAndNothingElse) {
  plan("on h->* REQ 2: alter local_qpn 66051");
  std::array<std::uint8_t, 256> mad{};
  const auto send = [&] {
    return inside(
        [&] { return faults_->packet_gate().on_packet(verbs::PacketWay::kOut, kReq, mad); });
  };

  EXPECT_FALSE(send().any());
  const verbs::Mishap second = send();

  EXPECT_TRUE(second.altered);
  EXPECT_FALSE(second.lost);
  std::array<std::uint8_t, 256> expected{};
  expected[56] = 1;  // IBTA vol 1, table 101: local QPN, of the 24 bits from byte 32 of the data
  expected[57] = 2;
  expected[58] = 3;
  EXPECT_EQ(mad, expected);
  EXPECT_EQ(status().observed, 1u);
}

TEST_F(Faulty, RequestIsPutOffOrIgnored) {
  plan("on h request 1: mra 22\non h request 2: ignore");

  const auto first = inside([&] { return faults_->next_refusal(); });
  const auto second = inside([&] { return faults_->next_refusal(); });

  EXPECT_EQ(first->postponed, 22);
  EXPECT_FALSE(first->ignored);
  EXPECT_TRUE(second->ignored);
  EXPECT_FALSE(inside([&] { return faults_->next_refusal(); }));
}

TEST_F(Faulty, RouteIsLookedForInVainOnce) {
  plan("on h routing 2: unrouted ETIMEDOUT\non h routing 3: fail-over h eth0");

  EXPECT_EQ(inside([&] { return faults_->next_routing(); }), 0);
  EXPECT_EQ(inside([&] { return faults_->next_routing(); }), ETIMEDOUT);
  EXPECT_EQ(inside([&] { return faults_->next_routing(); }), 0);

  EXPECT_THAT(above_.seen, ElementsAre("ADDR_CHANGE 0"));
  EXPECT_EQ(status(0).observed, 1u);
}

}  // namespace
}  // namespace anyrdma::fault
