// Verbs calls are scheduling points: between two of them a packet may land, and others may run.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "sim/explore/explore.h"
#include "sim/testing/audit.h"
#include "sim/testing/program.h"
#include "verbs/completion_queue.h"

namespace anyrdma::sim::testing {
namespace {

constexpr unsigned kMessages = 8;  // as many receives as a Pipe holds

/// Takes messages as they come, and sleeps when there are none.
class Sleeper {
 public:
  /// `looks_again`: after it has armed the queue. Without that a completion that comes between
  /// polling and arming is announced to no one.
  Sleeper(Host& host, bool looks_again) : program_(host), looks_again_(looks_again) {}

  void run() {
    const auto listener = program_.listen(program_.host().address(kPort));
    const std::unique_ptr<cm::Id> id = program_.expect_request();
    Pipe pipe(*id);
    ibv_qp* const qp = id->qp();
    for (unsigned i = 0; i < kMessages; ++i) pipe.post_receive(i, 0, 64);
    EXPECT_TRUE(id->accept(nullptr));
    program_.expect(RDMA_CM_EVENT_ESTABLISHED);
    while (taken_ < kMessages) await_more(qp->recv_cq, id->raw()->recv_cq_channel);
    program_.expect(RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_TRUE(id->disconnect());
  }

 private:
  void take_all(ibv_cq* cq) {
    std::array<ibv_wc, 4> completions{};
    int got = 0;
    while ((got = ibv_poll_cq(cq, completions.size(), completions.data())) > 0)
      taken_ += static_cast<unsigned>(got);
  }

  void await_more(ibv_cq* cq, ibv_comp_channel* channel) {
    take_all(cq);
    EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    if (looks_again_) take_all(cq);
    if (taken_ == kMessages) return;
    auto announced = verbs::provider_of(channel->context).get_cq_event(channel);
    if (announced) verbs::provider_of(channel->context).ack_cq_events(*announced, 1);
  }

  Program program_;
  const bool looks_again_;
  unsigned taken_ = 0;
};

void send_messages(Host& host, const Address& server) {
  (void)host.sleep(std::chrono::milliseconds(1));  // until the server listens, in whatever order
  Program program(host);
  const auto id = program.resolve(server);
  Pipe pipe(*id);
  EXPECT_TRUE(id->connect(nullptr));
  program.expect(RDMA_CM_EVENT_ESTABLISHED);
  for (unsigned i = 0; i < kMessages; ++i) {
    pipe.post(IBV_WR_SEND, i, 0, 8);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  }
  EXPECT_TRUE(id->disconnect());
}

Scenario conversation(bool looks_again) {
  return [looks_again](const Trial& trial) {
    const Unaudited nobody_looks;
    World world(trial.seed, trial.options());
    Host& server = world.add_host("server", {"192.0.2.1"});
    Host& client = world.add_host("client", {"192.0.2.2"});
    server.spawn("sleeper", [&server, looks_again] { Sleeper(server, looks_again).run(); });
    client.spawn("sender", [&] { send_messages(client, server.address(kPort)); });
    return finish(world);
  };
}

ExploreOptions other_orders() {
  constexpr std::uint64_t kRuns = 400;
  return {.runs = kRuns,
          .schedules = {{.policy = Policy::kPct,
                         .changes = 2,
                         .length = 400,
                         .slack = std::chrono::microseconds(100)}}};
}

TEST(SchedulingPoints, ACompletionComesBetweenPollingAndArmingAndIsAnnouncedToNoOne) {
  const Exploration found = explore(other_orders(), conversation(false));

  ASSERT_TRUE(found.failure);
  EXPECT_NE(found.failure->outcome.problem.find("server/sleeper waits"), std::string::npos)
      << found.failure->outcome.problem;
}

TEST(SchedulingPoints, AProgramThatLooksAgainAfterArmingMissesNothing) {
  const Exploration found = explore(other_orders(), conversation(true));

  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

TEST(SchedulingPoints, InDefaultOrderThereAreNone) {
  EXPECT_EQ(conversation(false)({.seed = 1}).choices, 0u);
  EXPECT_TRUE(conversation(false)({.seed = 1}).problem.empty());
}

}  // namespace
}  // namespace anyrdma::sim::testing
