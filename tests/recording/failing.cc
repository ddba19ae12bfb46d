// Tests in which something is wrong, on worlds that ask for nothing: failing_test.sh reads what
// they leave.
#include <gtest/gtest.h>

#include <chrono>

#include "sim/explore/explore.h"
#include "sim/host.h"
#include "sim/testing/clean_run.h"
#include "sim/world.h"

namespace anyrdma::tests {
namespace {

using namespace std::chrono_literals;
using sim::testing::CleanRun;

TEST(Bare, Passes) {
  sim::World world(1);
  CleanRun run(world);
  run.start();
  EXPECT_TRUE(world.run());
  run.end();
}

TEST(Bare, ExpectsTooMuchWhileItRuns) {
  sim::World world(3);
  CleanRun run(world);
  world.add_host("clerk", {"192.0.2.3"}).spawn("late", [&] {
    EXPECT_TRUE(world.find_host("clerk")->sleep(5ms));
    EXPECT_EQ(run.read(), "something else");
  });
  run.start();
  EXPECT_TRUE(world.run());
  run.end();
}

TEST(Bare, LooksWhenItsWorldHasEnded) {
  std::string written;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    sim::World world(seed);
    CleanRun run(world);
    run.start();
    EXPECT_TRUE(world.run());
    run.end();
    written = run.written();
  }
  EXPECT_EQ(written, "unwritten");
}

TEST(Bare, PlansWhatDoesNotHappen) {
  sim::World world(1);
  CleanRun run(world);
  world.faults().inject(sim::FaultPlan::parse("on client->server REQ 9: lose\n").value()).value();
  run.start();
  EXPECT_TRUE(world.run());
  run.end();
}

TEST(Bare, Hangs) {
  sim::World world(1);
  sim::Host& host = world.add_host("client", {"192.0.2.1"});
  host.spawn("main", [&] {
    auto channel = cm::EventChannel::create(host.transport()).value();
    (void)channel->get().has_value();
  });
  EXPECT_TRUE(world.run());
}

TEST(Bare, Explores) {
  sim::ExploreOptions options;
  options.runs = 3;
  const sim::Exploration found = sim::explore(options, [](const sim::Trial& trial) {
    sim::World world(trial.seed, trial.options({}));
    sim::Outcome outcome = sim::outcome_of(world);
    if (trial.seed == 2) outcome.problem = "the second one\n";
    return outcome;
  });
  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

class Each : public ::testing::TestWithParam<int> {};
TEST_P(Each, Fails) {
  sim::World world(static_cast<std::uint64_t>(GetParam()));
  EXPECT_NE(world.seed(), 7u);
}
INSTANTIATE_TEST_SUITE_P(Some, Each, ::testing::Values(7));

}  // namespace
}  // namespace anyrdma::tests
