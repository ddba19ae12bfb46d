#include "transport/fault/plan/triggers.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {
namespace {

using EventStep = transport::EventObserver::Step;

/// A driver that notes what it is asked to do.
class NotingDriver final : public FaultDriver {
 public:
  [[nodiscard]] bool is_over(const Arming& /*fault*/) const override { return over; }
  void pull(Arming& fault) override { pulled.push_back(&fault); }
  void on_fired(Arming& fault) override { fired.push_back(&fault); }

  bool over = false;
  std::vector<Arming*> pulled;
  std::vector<Arming*> fired;
};

/// The triggers of a plan whose lines each test gives.
class TriggersTest : public ::testing::Test {
 protected:
  void plan(const std::string& lines) {
    const auto parsed = FaultPlan::parse(lines);
    ASSERT_TRUE(parsed) << parsed.error().to_string();
    for (const Fault& each : parsed->faults) triggers.add(faults.emplace_back(each));
  }
  void queued(std::string_view host, std::uint64_t id, rdma_cm_event_type type) {
    triggers.on_event(host, EventStep::kQueued, id, type);
  }
  [[nodiscard]] std::vector<std::uint32_t> counts(std::size_t fault) const {
    const FaultStatus status = triggers.status().at(fault);
    return {status.armed, status.fired, status.observed};
  }
  [[nodiscard]] static bool is_packet(const Trigger& trigger) {
    return std::holds_alternative<OnPacket>(trigger);
  }
  [[nodiscard]] verbs::Mishap packet(bool arrives = true) {
    return triggers.on_packet(
        is_packet, [](const AlterMessage&) { FAIL(); }, arrives);
  }

  using Counts = std::vector<std::uint32_t>;
  NotingDriver driver;
  std::deque<Arming> faults;
  Triggers triggers{driver};
};

TEST_F(TriggersTest, ThePlannedOccurrenceOfAnEventIsPulledAndTheOthersAreCounted) {
  plan("on client queued ESTABLISHED 2: kill client\n");
  queued("client", 1, RDMA_CM_EVENT_ESTABLISHED);
  queued("client", 1, RDMA_CM_EVENT_DISCONNECTED);
  queued("server", 1, RDMA_CM_EVENT_ESTABLISHED);
  triggers.on_event("client", EventStep::kFetched, 1, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_TRUE(driver.pulled.empty());
  EXPECT_EQ(counts(0), (Counts{1, 0, 0}));

  queued("client", 7, RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(driver.pulled.size(), 1u);
  EXPECT_EQ(counts(0), (Counts{2, 0, 0}));
  triggers.fire(*driver.pulled.front());
  EXPECT_EQ(driver.fired, driver.pulled);
  EXPECT_EQ(counts(0), (Counts{2, 1, 0}));

  queued("client", 7, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(driver.pulled.size(), 1u);
}

TEST_F(TriggersTest, ATriggerWithAnIdCountsThatIdAlone) {
  plan("on client#3 queued ESTABLISHED 1: kill client\non client#3 state CONNECT 1: kill client\n");
  queued("client", 2, RDMA_CM_EVENT_ESTABLISHED);
  triggers.on_state("client", 2, "RDMA_CM_CONNECT");
  triggers.on_state("client", 3, "RDMA_CM_LISTEN");
  EXPECT_TRUE(driver.pulled.empty());
  queued("client", 3, RDMA_CM_EVENT_ESTABLISHED);
  triggers.on_state("client", 3, "RDMA_CM_CONNECT");

  EXPECT_EQ(driver.pulled, (std::vector<Arming*>{&faults[0], &faults[1]}));
}

TEST_F(TriggersTest, WithoutAHostsNameEveryHostIsMeant) {
  plan("on client queued ESTABLISHED 1: kill client\n");
  queued("", 1, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(driver.pulled.size(), 1u);
}

TEST_F(TriggersTest, AFaultThatCanNoLongerHappenIsNotCounted) {
  plan("on client queued ESTABLISHED all: kill client\n");
  driver.over = true;
  queued("client", 1, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_TRUE(driver.pulled.empty());
  EXPECT_EQ(counts(0), (Counts{0, 0, 0}));
}

TEST_F(TriggersTest, ACallThatFailsTakesTheErrorOfTheFirstFaultAndCountsTheOthers) {
  plan(
      "on client call reg_mr 2: fail ENOMEM\n"
      "on client call reg_mr all: fail EFAULT\n");
  EXPECT_EQ(triggers.on_gate("client", 0, "create_qp"), 0);
  EXPECT_EQ(triggers.on_gate("client", 0, "reg_mr"), EFAULT);
  EXPECT_EQ(triggers.on_gate("client", 0, "reg_mr"), ENOMEM);
  triggers.on_call("client", 0, "reg_mr");  // afterwards: counted at the gate already

  EXPECT_EQ(counts(0), (Counts{2, 1, 1}));
  EXPECT_EQ(counts(1), (Counts{2, 1, 1}));
  EXPECT_TRUE(driver.pulled.empty());
}

TEST_F(TriggersTest, TheFirstRefusalOfARequestWins) {
  plan(
      "on server request 1: mra 22\n"
      "on server request all: reject 28 6e6f\n");
  const auto first = triggers.on_request("server");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->postponed, 22);
  const auto second = triggers.on_request("server");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->reason, 28);
  EXPECT_EQ(second->private_data.size(), 2u);
  EXPECT_FALSE(triggers.on_request("client"));
  EXPECT_EQ(counts(1), (Counts{2, 1, 1}));
}

TEST_F(TriggersTest, AResolutionFailsWithItsError) {
  plan(
      "on client resolving 1: unresolved EHOSTUNREACH\n"
      "on client routing 2: unrouted ETIMEDOUT\n");
  EXPECT_EQ(triggers.on_resolving("client"), EHOSTUNREACH);
  EXPECT_EQ(triggers.on_resolving("client"), 0);
  EXPECT_EQ(triggers.on_routing("client"), 0);
  EXPECT_EQ(triggers.on_routing("client"), ETIMEDOUT);
}

TEST_F(TriggersTest, WorkThatFailsIsObservedWhenItsCompletionIsPolled) {
  plan("on client completion SEND 1: complete RETRY_EXC_ERR\n");
  const verbs::PostedWork work{.qp = 1, .qp_num = 17, .wr_id = 5};
  EXPECT_EQ(triggers.on_work("client", work), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(triggers.on_work("client", work), IBV_WC_SUCCESS);
  EXPECT_EQ(counts(0), (Counts{2, 1, 0}));

  ibv_wc completion{};
  completion.wr_id = 5;
  completion.qp_num = 18;  // another queue pair's
  completion.status = IBV_WC_RETRY_EXC_ERR;
  triggers.on_failure(completion);
  EXPECT_EQ(counts(0), (Counts{2, 1, 0}));
  completion.qp_num = 17;
  triggers.on_failure(completion);
  triggers.on_failure(completion);
  EXPECT_EQ(counts(0), (Counts{2, 1, 1}));
}

TEST_F(TriggersTest, MishapsOfOnePacketAddUp) {
  plan(
      "on client->server packet 1: delay 2ms\n"
      "on client->server packet 1: delay 3ms\n"
      "on client->server packet 2: duplicate\n"
      "on client->server packet 3: kill client\n");
  EXPECT_EQ(packet().late, std::chrono::milliseconds(5));
  const verbs::Mishap second = packet();
  EXPECT_EQ(second.copies, 1u);
  EXPECT_EQ(second.late.count(), 0);
  EXPECT_FALSE(packet().any());
  EXPECT_EQ(driver.pulled, (std::vector<Arming*>{&faults[3]}));
}

TEST_F(TriggersTest, APacketThatWouldNotArriveMakesNoDifference) {
  plan("on client->server packet all: lose\n");
  EXPECT_TRUE(packet(false).lost);
  EXPECT_EQ(counts(0), (Counts{1, 1, 0}));
  EXPECT_TRUE(packet(true).lost);
  EXPECT_EQ(counts(0), (Counts{2, 2, 1}));
}

TEST_F(TriggersTest, TheLongestDelayOfAnEventCounts) {
  plan(
      "on client queued ESTABLISHED all: hold 2s\n"
      "on client queued ESTABLISHED 1: hold 5s\n");
  EXPECT_EQ(triggers.on_delivery("client", 1, RDMA_CM_EVENT_ESTABLISHED), std::chrono::seconds(5));
  EXPECT_EQ(triggers.on_delivery("client", 1, RDMA_CM_EVENT_ESTABLISHED), std::chrono::seconds(2));
  EXPECT_FALSE(triggers.on_delivery("client", 1, RDMA_CM_EVENT_DISCONNECTED));
  queued("client", 1, RDMA_CM_EVENT_ESTABLISHED);  // counted by on_delivery()
  EXPECT_EQ(counts(0), (Counts{2, 2, 2}));
}

}  // namespace
}  // namespace anyrdma::fault
