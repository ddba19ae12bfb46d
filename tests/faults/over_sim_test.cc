// The decorator over the simulator: real protocol below, cm above, virtual time. What faults look
// like to both ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/schedule/random_stream.h"
#include "sim/testing/audit.h"
#include "sim/testing/program.h"
#include "sim/testing/sim_test.h"
#include "transport/event_name.h"
#include "transport/fault/fault_transport.h"

namespace anyrdma::fault {
namespace {

using namespace std::chrono_literals;
using sim::testing::kPort;
using ::testing::ElementsAre;

/// Drives a decorator by the world's clock.
class SimGround final : public Ground, private sim::Task {
 public:
  explicit SimGround(sim::Host& host) : host_(host) {}
  ~SimGround() override { host_.world().scheduler().cancel(*this); }
  void drive(FaultTransport& faults) {
    faults_ = &faults;
    wake();
  }

  Effect carry_out(const FaultAction&) override { return Effect::kUnknown; }
  void on_fired(const FaultStatus&) override {}
  void wake() override {
    if (faults_ != nullptr) host_.world().scheduler().at(*this, host_.world().now());
  }
  std::unique_ptr<verbs::Random> dice(std::string_view name) override {
    return std::make_unique<sim::RandomStream>(host_.world().seed(), name);
  }

 private:
  void run() override {
    faults_->on_timer(host_.world().now());
    if (const auto next = faults_->next_deadline()) {
      host_.world().scheduler().at(*this, std::max(*next, host_.world().now()));
    }
  }

  sim::Host& host_;
  FaultTransport* faults_ = nullptr;
};

// Unaudited: the audit looks below the decorator, where requests are forgotten and events held for
// no reason.
class OverSim : private sim::testing::Unaudited, public sim::testing::SimTest {
 protected:
  /// The server's transport has the faults.
  void plan(const std::string& text) {
    auto ground = std::make_shared<SimGround>(server());
    auto faults = std::make_shared<FaultTransport>(server().transport(),
                                                   FaultPlan::parse(text).value(), *ground);
    ground->drive(*faults);
    faults_ = faults.get();
    server().keep(std::move(faults));  // until its programs have ended
    server().keep(std::move(ground));
    serve([this] { serve_one(); });
    ask([this] { ask_once(); });
    run();
  }
  void serve_one() {
    auto channel = cm::EventChannel::create(*faults_).value();
    auto listener = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage here = server().address(kPort).to_sockaddr();
    listener->bind(reinterpret_cast<const sockaddr*>(&here)).value();
    listener->listen(4).value();
    std::unique_ptr<cm::Id> id;
    std::unique_ptr<sim::testing::Pipe> pipe;
    while (true) {
      verbs::Result<cm::Event> event = channel->get();
      if (!event) return;
      note(at_server_, *event);
      if (event->type() != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
      id = event->take_request();
      pipe = std::make_unique<sim::testing::Pipe>(*id);
      const rdma_conn_param answer = sim::testing::parameters("");
      (void)id->accept(&answer).has_value();
    }
  }
  void ask_once() {
    sim::testing::Program program(client());
    const auto id = program.resolve(server().address(kPort));
    sim::testing::Pipe pipe(*id);
    const rdma_conn_param request = sim::testing::parameters("");
    id->connect(&request).value();
    const auto first = program.next();
    if (!first) return;
    note(at_client_, *first);
    if (first->type() != RDMA_CM_EVENT_ESTABLISHED) return;
    if (const auto second = program.next()) note(at_client_, *second);
  }
  void note(std::vector<std::string>& seen, const cm::Event& event) {
    seen.push_back(std::string(transport::short_event_name(event.type())) + " " +
                   std::to_string(event.status()));
  }

  FaultTransport* faults_ = nullptr;
  std::vector<std::string> at_server_;
  std::vector<std::string> at_client_;
};

TEST_F(OverSim, RejectedClientLearnsTheReasonAndTheServerNothing) {
  plan("on server request 1: reject 28");

  EXPECT_THAT(at_client_, ElementsAre("REJECTED 28"));
  EXPECT_THAT(at_server_, ::testing::IsEmpty());
}

TEST_F(OverSim, ForgottenRequestIsRepeated) {
  plan("on server request 1: overflow\nat 10s: remove server anyrdma0\n");

  EXPECT_THAT(at_client_, ElementsAre("ESTABLISHED 0", "DISCONNECTED 0"));
  EXPECT_EQ(faults_->status().at(0).armed, 2u);
}

TEST_F(OverSim, HeldRequestIsAnsweredLate) {
  plan("on server queued CONNECT_REQUEST 1: hold 1s\nat 10s: remove server anyrdma0\n");

  EXPECT_THAT(at_client_, ElementsAre("ESTABLISHED 0", "DISCONNECTED 0"));
  EXPECT_EQ(at_server_.at(0), "CONNECT_REQUEST 0");
}

TEST_F(OverSim, RemovalIsToldToEveryIdAndDisconnectsPeers) {
  plan("on server fetched ESTABLISHED 1: remove server anyrdma0");

  EXPECT_THAT(at_client_, ElementsAre("ESTABLISHED 0", "DISCONNECTED 0"));
  EXPECT_THAT(at_server_, ElementsAre("CONNECT_REQUEST 0", "ESTABLISHED 0", "DEVICE_REMOVAL 0",
                                      "DEVICE_REMOVAL 0"));
}

}  // namespace
}  // namespace anyrdma::fault
