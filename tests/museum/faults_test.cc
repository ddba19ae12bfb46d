// Section H: Fault injection that is weak or false
#include <gtest/gtest-spi.h>

#include <string>
#include <vector>

#include "check/legality.h"
#include "sim/explore/explore.h"
#include "sim/faults.h"
#include "sim/testing/life.h"
#include "tests/museum/exhibit.h"

namespace anyrdma::museum {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Injection : public Exhibit {
 protected:
  /// Sends messages one after the other; how long that takes in virtual time.
  [[nodiscard]] static sim::Duration transfer(const sim::LinkOptions& link) {
    constexpr int kMessages = 100;
    sim::World world(1, {.tracing = sim::Tracing::kOff});
    sim::Host& client_host = world.add_host("client", {kClientIp});
    sim::Host& server_host = world.add_host("server", {kServerIp});
    sim::Duration took{};
    client_host.spawn("send", [&] {
      Program server(server_host);
      Program client(client_host);
      const auto listener = server.listen(server_host.address(kPort));
      const auto active = client.resolve(server_host.address(kPort));
      Pipe here(*active);
      const rdma_conn_param param = parameters("");
      active->connect(&param).value();
      const auto passive = server.expect_request();
      Pipe there(*passive);
      passive->accept(&param).value();
      client.expect(RDMA_CM_EVENT_ESTABLISHED);
      world.set_link(client_host, server_host, link);
      const sim::Instant start = world.now();
      for (int i = 0; i < kMessages; ++i) {
        here.post(IBV_WR_RDMA_WRITE, 1, 0, Pipe::kBytes, there.address(), there.rkey());
        EXPECT_EQ(here.wait_sent().status, IBV_WC_SUCCESS);
      }
      took = world.now() - start;
    });
    EXPECT_TRUE(world.run());
    return took;
  }
};

// --- 45: faults below the wrong layer -----------------------------------------------------------

// Exhibit 45: A benchmark let netem lose packets of the network interface, which had no effect on a
// NIC's RDMA traffic, and was removed. A packet that is lost on a simulated link affects programs
// on verbs.
// https://github.com/facebookresearch/DCPerf/pull/671
TEST_F(Injection, LossBelowTheApiIsFeltAboveIt) {
  const sim::Duration perfect = transfer({.bits_per_second = 10'000'000'000});
  const sim::Duration lossy = transfer({.loss = 0.05, .bits_per_second = 10'000'000'000});
  const sim::Duration slow = transfer({.bits_per_second = 1'000'000'000});

  EXPECT_GT(lossy, 10 * perfect);
  EXPECT_GT(slow, 3 * perfect);
}

// --- 46: faults that did not happen -------------------------------------------------------------

/// A test of recovery, whose fault is for the third connection; there is one.
void recovery_test() {
  sim::World world(1);
  sim::Host& client = world.add_host("client", {"192.0.2.2"});
  sim::Host& server = world.add_host("server", {"192.0.2.1"});
  ASSERT_TRUE(
      world.faults().inject(sim::FaultPlan::parse("on server request 3: reject 28").value()));
  sim::testing::Life life(world, client, server);
  life.start();
  EXPECT_TRUE(world.run());
  EXPECT_TRUE(life.established()) << "it recovered";
}

// Exhibit 46: A test of recovery passed although its fault had never been injected. In anyrdma a
// planned fault that does not happen fails the test.
// https://github.com/ROCm/rocm-systems/pull/5515
TEST_F(Injection, APlannedFaultThatDidNotHappenFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(recovery_test(),
                          "planned 1, armed 1, fired 0, observed 0: on server request 3");
}

// Exhibit 46: A fault that had no effect is reported as fired but not observed, to distinguish it
// from one that made a difference.
// https://github.com/ROCm/rocm-systems/pull/5515
TEST_F(Injection, AFaultThatNobodyMetIsNotObserved) {
  plan("at 1s: cut client<->server\nat 2s: cut server->client");
  world.run_for(3s);

  EXPECT_THAT(world.faults().unfired(), IsEmpty());
  for (const sim::FaultStatus& status : world.faults().status()) EXPECT_EQ(status.observed, 0u);
}

// --- 47: faults that cannot be ------------------------------------------------------------------

/// Fault injection in the application: every completion may be turned into a failed poll. The
/// completion is gone then, which no hardware does.
class FalsifyingPoll {
 public:
  explicit FalsifyingPoll(int victim) : victim_(victim) {}

  int poll(ibv_cq* cq, ibv_wc* completion) {
    const int found = ibv_poll_cq(cq, 1, completion);
    if (found == 1 && ++seen_ == victim_) return -1;  // "rpma_cq_get_wc failed"
    return found;
  }

 private:
  int victim_;
  int seen_ = 0;
};

// Exhibit 47: A fault injector changed the results of ibv_poll_cq, so that applications waited for
// ever for a completion that had come.
// https://github.com/pmem/rpma/pull/1975
TEST_F(Injection, AFalsifiedCompletionIsWaitedForForEver) {
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection served = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    (void)server.next().has_value();
  });
  ask([this] {
    const Connection connection = connect();
    FalsifyingPoll injected(1);
    ibv_cq* cq = connection.id->qp()->send_cq;
    void* context = nullptr;
    ibv_wc completion{};
    EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    connection.pipe->post(IBV_WR_SEND, 1, 0, 16);
    while (injected.poll(cq, &completion) <= 0) {
      if (ibv_get_cq_event(connection.id->raw()->send_cq_channel, &cq, &context) != 0) return;
      ibv_ack_cq_events(cq, 1);
      EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    }
    ADD_FAILURE() << "it ended";
  });

  EXPECT_THAT(run_into_hang(), HasSubstr("client/ask waits for a completion event"));
}

// Exhibit 47: A fault plan gives a completion an error as hardware does: the completion comes, the
// queue pair goes to ERR, and the application ends.
// https://github.com/pmem/rpma/pull/1975
TEST_F(Injection, ACompletionInErrorIsNotWaitedFor) {
  plan("on client completion SEND 1: complete RETRY_EXC_ERR");
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection served = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    (void)server.next().has_value();
  });
  ask([this] {
    const Connection connection = connect();
    connection.pipe->post(IBV_WR_SEND, 1, 0, 16);
    EXPECT_EQ(connection.pipe->wait_sent().status, IBV_WC_RETRY_EXC_ERR);
    connection.pipe->post(IBV_WR_SEND, 2, 0, 16);
    EXPECT_EQ(connection.pipe->wait_sent().status, IBV_WC_WR_FLUSH_ERR);
  });

  run();
}

// Exhibit 47: A fault plan can only have faults that hardware has: it can lose a packet, and not a
// completion. Any other plan is refused before the run.
// https://github.com/pmem/rpma/pull/1975
TEST_F(Injection, AFaultThatCannotBeIsRefused) {
  for (const char* line : {
           "on client fetched ESTABLISHED 1: lose",  // an event in memory
           "on server request 1: corrupt",           // what has arrived is intact
           "on client->server REQ 1: reject 28",     // the network refuses nothing
           "at 1s: overflow",                        // of whose backlog?
           "at 1s: remove server",                   // which device?
           "on client queued NO_SUCH_EVENT 1: remove client anyrdma0",
           "on client completion SEND 1: lose",                   // one for each request
           "on client completion SEND 1: complete BAD_RESP_ERR",  // a SEND has no response
           "on client call connect 1: fail EISCONN",              // no kernel says that
       }) {
    EXPECT_FALSE(sim::FaultPlan::parse(line)) << line;
  }
  const auto absent = sim::FaultPlan::parse("at 1s: remove server anyrdma7");
  ASSERT_TRUE(absent);
  EXPECT_FALSE(world.faults().inject(*absent)) << "there is no such device";
}

// --- 48: what is legal? -------------------------------------------------------------------------

/// A run of the connection that all of our tests know, under a plan.
sim::Outcome live(const sim::Trial& trial) {
  sim::World world(trial.seed);
  sim::Host& client = world.add_host("client", {"192.0.2.2"});
  sim::Host& server = world.add_host("server", {"192.0.2.1"});
  EXPECT_TRUE(world.faults().inject(trial.plan));
  sim::testing::Life life(world, client, server);
  life.start();
  sim::Outcome outcome = sim::finish(world);
  outcome.problem.clear();  // whose peer gave up may wait; what may not be, the audit says
  world.scheduler().fibers().close();
  return outcome;
}

// Exhibit 48: A team wanted to test random edge cases and did not know which behaviour is legal.
// anyrdma's model of legal events, with a source in the kernel for each, checks this test with
// random faults.
// https://github.com/ydb-platform/nbs/issues/6314
// https://github.com/kvcache-ai/Mooncake/issues/3778
TEST_F(Injection, ASweepOfRandomFaultsStaysLegal) {
  sim::SampleOptions options;
  options.runs = 60;
  options.menu = sim::FaultPlan::parse(
                     "on *->* packet 20%: lose\n"
                     "on *->* packet 20%: duplicate\n"
                     "on *->* packet 20%: delay 5ms\n"
                     "on *->* packet 10%: corrupt\n"
                     "on server request 1: reject 28\n"
                     "on server request 1: overflow\n"
                     "on server fetched ESTABLISHED 1: fail-over server eth0\n")
                     .value()
                     .faults;

  const sim::Exploration swept = sim::explore_samples(live, options);

  EXPECT_EQ(swept.runs, options.runs);
  EXPECT_THAT(swept.fired, SizeIs(options.menu.size())) << swept.to_string();
}

// Exhibit 48: An event that no kernel raises is reported with its name and the phase of its id.
// https://github.com/ydb-platform/nbs/issues/6314
TEST_F(Injection, AnIllegalEventIsNamed) {
  check::Legality legality;
  using Step = transport::EventObserver::Step;
  legality.on_call("client", 1, "resolve_addr", 0);
  legality.on_event("client", Step::kQueued, 1, 0, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_THAT(legality.violations(),
              ::testing::ElementsAre(HasSubstr("client#1: ESTABLISHED although")));
}

}  // namespace
}  // namespace anyrdma::museum
