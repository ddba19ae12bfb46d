// What befalls datagrams, as an oracle: notices that are lost, doubled, damaged and out of order.
#include <gtest/gtest.h>

#include <chrono>

#include "sim/fault_plan.h"
#include "sim/world.h"
#include "tests/planted/judging.h"
#include "tests/planted/notices.h"
#include "tests/planted/oracles.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

class Reading {
 public:
  explicit Reading(const sim::Trial& trial) : world_(trial.seed) {
    EXPECT_TRUE(world_.faults().inject(trial.plan)) << trial.plan.to_string();
    open_end(writer_);
    open_board(reader_);
    way_ = way_to(reader_, writer_);
  }

  sim::Outcome run() {
    for (int round = 0; round < 5; ++round) write();
    sim::heal(world_);
    write();
    if (board_.shown() != number_) board_.complain("the newest notice does not hang there");
    sim::Outcome outcome = sim::finish(world_);
    outcome.problem += board_.complaints;
    return outcome;
  }

 private:
  void write() {
    for (std::uint64_t i = 0; i < kNotices; ++i) send_notice(writer_, way_, ++number_);
    world_.run_for(1s);
    (void)writer_.poll();
    read_notices(reader_, board_);
  }

  sim::World world_;
  sim::Host& client_ = world_.add_host("client", {"10.0.0.2"});
  sim::Host& server_ = world_.add_host("server", {"10.0.0.1"});
  sim::testing::End writer_{client_};
  sim::testing::End reader_{server_};
  Way way_{};
  std::uint64_t number_ = 0;
  Board board_;
};

sim::Outcome run_notices(const sim::Trial& trial) {
  return judged([&trial] { return Reading(trial).run(); });
}

/// All but the first leave the notices in their order.
sim::SampleOptions samples() {
  sim::SampleOptions options;
  options.menu = sim::FaultPlan::parse(
                     "on client->server packet 20%: reorder\n"
                     "on client->server packet 10%: lose\n"
                     "on client->server packet 20%: duplicate\n"
                     "on client->server packet 10%: corrupt\n")
                     .value()
                     .faults;
  options.runs = 100;
  return options;
}

TEST(Once, Notices) {
  judge(run_notices({}));
}

TEST(Samples, Notices) {
  judge_samples(run_notices, samples());
}

}  // namespace
}  // namespace anyrdma::planted
