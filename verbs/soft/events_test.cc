// Completion notifications, asynchronous events and their acknowledgement.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;
using EventTypes = std::vector<ibv_event_type>;

class Events : public Pair {
 protected:
  Events() {
    // b's completion queue is replaced by one with a channel.
    b.hca->destroy_cq(b.cq).value();
    channel_ = b.hca->create_comp_channel(b.context).value();
    b.cq = b.hca->create_cq(b.context, 10, this, channel_, 0).value();
  }
  ~Events() override {
    b.hca->destroy_qp(b.qp).value();
    b.hca->destroy_cq(b.cq).value();
    b.hca->destroy_comp_channel(channel_).value();
    b.qp = nullptr;
    b.cq = b.hca->create_cq(b.context, 10, nullptr, nullptr, 0).value();
  }

  bool event_waits() {
    const auto event = b.hca->get_cq_event(channel_);
    if (!event) {
      EXPECT_EQ(event.error().value(), EDEADLK);
      return false;
    }
    EXPECT_EQ(*event, b.cq);
    b.hca->ack_cq_events(b.cq, 1);
    return true;
  }
  void receive(unsigned flags) {
    ASSERT_EQ(b.post_recv(1, 0, 10), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10, nullptr, 0, flags), 0);
    carry();
  }

  ibv_comp_channel* channel_ = nullptr;
};

TEST_F(Events, ACompletionIsAnnouncedOnceIfAskedFor) {
  connect();
  receive(0);
  EXPECT_FALSE(event_waits());
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  EXPECT_FALSE(event_waits());  // what came before does not count
  receive(0);
  receive(0);
  EXPECT_TRUE(event_waits());
  EXPECT_FALSE(event_waits());
}

// --- channels that are destroyed while a thread waits -------------------------------------------

/// Does something when a thread has been woken for an event and has not taken the event yet.
class WhenWoken : public CallGate {
 public:
  WhenWoken(Hca& hca, std::function<void()> deed) : hca_(hca), deed_(std::move(deed)) {
    hca_.set_call_gate(this);
  }
  ~WhenWoken() override { hca_.set_call_gate(nullptr); }
  int on_call(std::uint64_t, std::string_view) override { return 0; }
  ibv_wc_status on_work(const PostedWork&) override { return IBV_WC_SUCCESS; }
  void on_failure(const ibv_wc&) override {}
  void on_take() override {
    if (const auto deed = std::exchange(deed_, nullptr)) deed();
  }

 private:
  Hca& hca_;
  std::function<void()> deed_;
};

class Ends : public Events {
 protected:
  Ends() {
    connect();
    EXPECT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
    receive(0);
  }
  void destroy_queue() {
    b.hca->destroy_qp(b.qp).value();
    b.hca->destroy_cq(b.cq).value();
  }
  void make_queue() {
    b.cq = b.hca->create_cq(b.context, 10, this, channel_, 0).value();
    b.create_qp({});
  }
  void destroy_channel() { b.hca->destroy_comp_channel(channel_).value(); }
  void make_channel() { channel_ = b.hca->create_comp_channel(b.context).value(); }
  int error_of_waiting(ibv_comp_channel* channel) {
    const auto event = b.hca->get_cq_event(channel);
    return event ? 0 : event.error().value();
  }
};

TEST_F(Ends, AThreadThatWasWokenLearnsThatItsChannelIsDestroyed) {
  ibv_comp_channel* const old = channel_;
  const WhenWoken gate(*b.hca, [this] {
    destroy_queue();
    destroy_channel();
  });
  EXPECT_EQ(error_of_waiting(old), EBADF);
  make_channel();
  make_queue();
}

TEST_F(Ends, AThreadThatWasWokenTakesNoEventOfANewChannelInItsPlace) {
  ibv_comp_channel* const old = channel_;
  const WhenWoken gate(*b.hca, [this] {
    destroy_queue();
    destroy_channel();
    make_channel();
    make_queue();
  });
  EXPECT_EQ(error_of_waiting(old), EBADF);
}

TEST_F(Ends, AThreadThatBeginsToWaitTooLateLearnsIt) {
  ibv_comp_channel* const old = channel_;
  destroy_queue();
  destroy_channel();
  EXPECT_EQ(error_of_waiting(old), EBADF);
  make_channel();
  make_queue();
}

TEST_F(Ends, AThreadThatWasWokenWaitsOnIfOnlyTheQueueIsDestroyed) {
  const WhenWoken gate(*b.hca, [this] { destroy_queue(); });
  EXPECT_EQ(error_of_waiting(channel_), EDEADLK);
  make_queue();
}

// --- moderation ---------------------------------------------------------------------------------

int moderate(ibv_cq* cq, std::uint16_t count, std::uint16_t microseconds) {
  ibv_modify_cq_attr attr{.attr_mask = IBV_CQ_ATTR_MODERATE,
                          .moderate = {.cq_count = count, .cq_period = microseconds}};
  return ibv_modify_cq(cq, &attr);
}

TEST_F(Events, ModerationWaitsForSoManyCompletions) {
  connect();
  ASSERT_EQ(moderate(b.cq, 3, 0), 0);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
    receive(0);
    receive(0);
    EXPECT_FALSE(event_waits());
    receive(0);
    EXPECT_TRUE(event_waits());
    EXPECT_EQ(b.poll().size(), 3u);
  }
}

TEST_F(Events, ModerationWaitsNoLongerThanItsPeriod) {
  connect();
  ASSERT_EQ(moderate(b.cq, 3, 50), 0);
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  receive(0);
  const Instant first = runtime.time;
  EXPECT_FALSE(event_waits());
  ASSERT_TRUE(next_timer());
  EXPECT_EQ(runtime.time - first, std::chrono::microseconds(50));
  EXPECT_TRUE(event_waits());
  EXPECT_FALSE(next_timer());
}

TEST_F(Events, ModerationThatEndsHoldsNothingBack) {
  connect();
  ASSERT_EQ(moderate(b.cq, 0, 50), 0);
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  receive(0);
  EXPECT_FALSE(event_waits());
  ASSERT_EQ(moderate(b.cq, 0, 0), 0);
  EXPECT_TRUE(event_waits());
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  receive(0);
  EXPECT_TRUE(event_waits());
}

TEST_F(Events, ModerationIsBoundByWhatTheDeviceSays) {
  connect();
  ibv_device_attr_ex attr{};
  const verbs_context* ops = verbs_get_ctx(b.context);
  ASSERT_EQ(ops->query_device_ex(b.context, nullptr, &attr, sizeof attr), 0);
  const std::uint16_t count = attr.cq_mod_caps.max_cq_count;
  const std::uint16_t period = attr.cq_mod_caps.max_cq_period;
  EXPECT_EQ(moderate(b.cq, count, period), 0);
  EXPECT_EQ(moderate(b.cq, count, static_cast<std::uint16_t>(period + 1)), EINVAL);
}

TEST_F(Events, SolicitedOnlyWaitsForASolicitedSend) {
  connect();
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 1), 0);
  receive(0);
  EXPECT_FALSE(event_waits());
  receive(IBV_SEND_SOLICITED);
  EXPECT_TRUE(event_waits());
}

TEST_F(Events, AskingAgainForSolicitedOnesNarrowsNoRequest) {
  connect();
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 1), 0);
  receive(0);
  EXPECT_TRUE(event_waits());
}

TEST_F(Events, AnErrorCountsAsSolicited) {
  connect();
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 1), 0);
  ASSERT_EQ(b.post_recv(1, 0, 1), 0);
  ASSERT_EQ(b.modify(IBV_QPS_ERR, 0, {}), 0);
  EXPECT_TRUE(event_waits());
}

TEST_F(Events, DestructionWaitsForAcknowledgements) {
  connect();
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  receive(0);
  ASSERT_TRUE(b.hca->get_cq_event(channel_).has_value());
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;
  EXPECT_EQ(b.hca->destroy_cq(b.cq).error().value(), EDEADLK);  // nobody would ever acknowledge
  runtime.when_empty = [this] { b.hca->ack_cq_events(b.cq, 1); };

  EXPECT_TRUE(b.hca->destroy_cq(b.cq).has_value());

  runtime.when_empty = nullptr;
  const ConnectionOptions options;
  b.cq = b.hca->create_cq(b.context, 10, nullptr, channel_, 0).value();
  b.create_qp(options);
}

TEST_F(Events, AQueueInUseIsBusy) {
  connect();
  EXPECT_EQ(b.hca->destroy_cq(b.cq).error().value(), EBUSY);
  EXPECT_EQ(b.hca->destroy_comp_channel(channel_).error().value(), EBUSY);
  EXPECT_EQ(b.hca->dealloc_pd(b.pd).error().value(), EBUSY);
}

TEST_F(Events, AnUnreadAnnouncementGoesWithItsQueue) {
  connect();
  ASSERT_EQ(ibv_req_notify_cq(b.cq, 0), 0);
  receive(0);
  b.hca->destroy_qp(b.qp).value();
  b.hca->destroy_cq(b.cq).value();
  EXPECT_EQ(b.hca->get_cq_event(channel_).error().value(), EDEADLK);
  b.cq = b.hca->create_cq(b.context, 10, nullptr, channel_, 0).value();
  b.create_qp({});
}

TEST_F(Events, AnOverrunQueueRaisesAnErrorOnce) {
  connect();
  for (int i = 0; i < 13; ++i) receive(0);
  EXPECT_EQ(b.poll().size(), 10u);
  EXPECT_EQ(b.events(), EventTypes{IBV_EVENT_CQ_ERR});
}

TEST_F(Events, PollingAnEmptyQueueMakesProgress) {
  connect();
  ibv_wc wc{};
  EXPECT_EQ(ibv_poll_cq(b.cq, 1, &wc), 0);
  EXPECT_EQ(runtime.progress_calls, 1);
}

TEST_F(Events, TheFirstPacketBeforeReadyToSendRaisesCommunicationEstablishedOnce) {
  const ConnectionOptions options;
  for (Side* side : {&a, &b}) {
    side->create_qp(options);
    side->to_init(options);
  }
  a.to_rtr(options, b);
  b.to_rtr(options, a);
  a.to_rts(options);
  receive(0);
  receive(0);
  EXPECT_EQ(b.events(), EventTypes{IBV_EVENT_COMM_EST});
  EXPECT_EQ(b.poll().size(), 2u);
}

TEST_F(Events, PacketsInReadyToSendRaiseNothing) {
  connect();
  receive(0);
  EXPECT_TRUE(b.events().empty());
}

TEST_F(Events, DestroyingAQueuePairWaitsForItsAsynchronousEvents) {
  ConnectionOptions options;
  options.access = 0;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  const ibv_async_event event = b.hca->get_async_event(b.context).value();
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
  EXPECT_EQ(event.element.qp, b.qp);
  EXPECT_EQ(b.hca->destroy_qp(b.qp).error().value(), EDEADLK);
  runtime.when_empty = [this, event] { b.hca->ack_async_event(event); };
  EXPECT_TRUE(b.hca->destroy_qp(b.qp).has_value());
  runtime.when_empty = nullptr;
  b.create_qp(options);
}

TEST_F(Events, AddressAndPortChangesReachTheContext) {
  connect();
  b.hca->set_gid(2, testing::ipv4_gid(9));
  b.hca->set_gid(2, testing::ipv4_gid(9));
  b.hca->set_port_state(IBV_PORT_DOWN);
  b.hca->set_port_state(IBV_PORT_ACTIVE);
  EXPECT_EQ(b.events(),
            (EventTypes{IBV_EVENT_GID_CHANGE, IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE}));
}

TEST_F(Events, APortWithoutALinkLosesPacketsBothWays) {
  connect();
  b.hca->set_port_state(IBV_PORT_DOWN);
  ASSERT_EQ(b.post_recv(1, 0, 10), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_WRITE, 2, 0, 10, &a, 0), 0);
  carry();
  EXPECT_TRUE(a.poll().empty());
  EXPECT_TRUE(b.poll().empty());
  b.hca->set_port_state(IBV_PORT_ACTIVE);
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_EQ(b.poll().size(), 2u);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
