// Searching on from what is rare.
#include "sim/explore/guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/findings.h"
#include "sim/host.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Something that comes in one run of five hundred.
bool happens(World& world, const std::string& name) {
  constexpr std::uint64_t kOneIn = 500;
  const bool here = world.random(name).below(kOneIn) == 0;
  sometimes(name, here);
  return here;
}

/// Goes wrong when two rare things come in one run, which do not depend on each other.
Outcome rare_pair(const Trial& trial) {
  World world(trial.seed, trial.options({.tracing = Tracing::kHash}));
  Host& host = world.add_host("host", {"10.0.0.1"});
  bool first = false;
  bool second = false;
  host.spawn("early", [&] {
    (void)host.sleep(10us);
    first = happens(world, "the first");
  });
  host.spawn("late", [&] {
    (void)host.sleep(20us);
    second = happens(world, "the second");
  });
  for (const char* name : {"one", "other"}) {
    host.spawn(name, [&] {
      for (int i = 0; i < 15; ++i) (void)host.sleep(2us);
    });
  }
  Outcome outcome = finish(world);
  if (first && second) outcome.problem = "both\n";
  return outcome;
}

ExploreOptions searching(std::uint64_t first_seed) {
  return {.first_seed = first_seed,
          .runs = 20'000,
          .schedules = {{.policy = Policy::kRandom}},
          .branching = true,
          .feedback = true};
}

TEST(Guide, TwoRareThingsAreFoundTogetherInAFewThousandRuns) {
  for (const std::uint64_t first_seed : {1u, 100'000u, 200'000u, 300'000u, 400'000u}) {
    const Exploration found = explore(searching(first_seed), rare_pair);

    ASSERT_TRUE(found.failure) << first_seed;
    EXPECT_LT(found.runs, 20'000u);
    // Neither seed alone has both.
    EXPECT_THAT(found.failure->trial.to_string(), HasSubstr(" until "));
    EXPECT_EQ(rare_pair(Trial::parse(found.failure->trial.to_string()).value()).problem, "both\n");
  }
}

TEST(Guide, TheSameRunsAreMadeWhateverTheNumberOfProcesses) {
  ExploreOptions options = searching(1);
  options.runs = 1500;
  const Exploration alone = explore(options, rare_pair);
  for (const unsigned jobs : {1u, 3u}) {
    options.jobs = jobs;
    const Exploration found = explore(options, rare_pair);

    EXPECT_EQ(found.to_string(), alone.to_string()) << jobs;
    EXPECT_EQ(found.sightings(), alone.sightings()) << jobs;
    EXPECT_EQ(found.failure.has_value(), alone.failure.has_value()) << jobs;
  }
}

TEST(Guide, WithoutItNothingIsSaidOfCoverage) {
  const Exploration found = explore({.runs = 10}, rare_pair);

  EXPECT_EQ(found.bits, 0u);
  EXPECT_EQ(found.to_string(), "10 runs");
}

TEST(Guide, SaysHowManyBitsThereAreAndWhenTheLastOneCame) {
  ExploreOptions options{.runs = 100, .feedback = true};
  const Exploration found = explore(options, [](const Trial& trial) {
    sometimes("seed 40", trial.seed == 40);
    return Outcome{};
  });

  EXPECT_EQ(found.to_string(), "100 runs, 1 bits of coverage, the last new one in run 40");
}

TEST(Guide, TrialsThatCameToSomethingNewAreChanged) {
  ExploreOptions options{.runs = 3000,
                         .menu = FaultPlan::parse("at 100us: cut a->b\nat 100us: cut b->a\n"
                                                  "at 100us: clog a->b\nat 100us: clog b->a\n")
                                     .value()
                                     .faults,
                         .faults_max = 1,
                         .feedback = true};
  // Of which none is drawn with another; each one more is something new.
  const Scenario climbs = [](const Trial& trial) {
    const std::size_t faults = trial.plan.faults.size();
    for (std::size_t i = 0; i <= faults; ++i) sometimes("faults " + std::to_string(i), true);
    return Outcome{.problem = faults == 4 ? "four\n" : ""};
  };

  const Exploration found = explore(options, climbs);

  ASSERT_TRUE(found.failure);
  options.feedback = false;
  EXPECT_FALSE(explore(options, climbs).failure);
}

}  // namespace
}  // namespace anyrdma::sim
