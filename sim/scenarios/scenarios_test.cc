// The standard scenarios: undisturbed they do what they are for; disturbed they come to their end.
#include "sim/scenarios/scenarios.h"

#include "sim/scenarios/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace anyrdma::sim::scenarios {
namespace {

using namespace std::chrono_literals;

class Scenarios : public ::testing::TestWithParam<Standard> {
 protected:
  static Scenario scenario(Tracing tracing = Tracing::kHash) {
    watch();
    return [run = GetParam().run, tracing](const Trial& trial) {
      return run(trial, {.tracing = tracing});
    };
  }
  static std::vector<Fault> faults(std::string_view text) {
    return FaultPlan::parse(text).value().faults;
  }
};

TEST_P(Scenarios, UndisturbedEverythingPassesInEveryOrder) {
  const Exploration found = explore(
      {.runs = 40,
       .schedules = {{}, {.policy = Policy::kRandom, .slack = 10us}, {.policy = Policy::kPct}}},
      scenario());

  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

TEST_P(Scenarios, DisturbedTheyComeToTheirEnd) {
  const Exploration found = explore(
      {.runs = 60,
       .menu = faults(GetParam().menu),
       .schedules = {{}, {.policy = Policy::kRandom, .slack = 10us}, {.policy = Policy::kPct}}},
      scenario());

  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

TEST_P(Scenarios, TheDeviceMayGoAtEveryStep) {
  std::vector<FaultAction> actions;
  for (const Fault& fault : faults(GetParam().placed)) actions.push_back(fault.action);

  const Exploration found =
      explore({.runs = 0, .placed = actions, .placed_runs_max = 250}, scenario(Tracing::kKeep));

  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

INSTANTIATE_TEST_SUITE_P(Standard, Scenarios,
                         ::testing::ValuesIn(standard().begin(), standard().end()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace anyrdma::sim::scenarios
