#include "tests/planted/judging.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "tests/planted/planted.h"

namespace anyrdma::planted {
namespace {

void tell_runs(std::uint64_t runs) {
  std::printf("runs: %llu\n", static_cast<unsigned long long>(runs));
}

}  // namespace

void judge(std::uint64_t runs, const std::optional<sim::Failure>& failure) {
  tell_runs(runs);
  if (failure) ADD_FAILURE() << failure->to_string();
}

void judge(const sim::Outcome& outcome) {
  std::optional<sim::Failure> failure;
  if (!outcome.problem.empty()) failure = sim::Failure{{}, outcome, 0};
  judge(1, failure);
}

sim::Scenario counted(sim::Scenario scenario) {
  return
      [scenario = std::move(scenario), runs = std::uint64_t{0}](const sim::Trial& trial) mutable {
        if (active != 0) tell_runs(++runs);
        return scenario(trial);
      };
}

void judge_samples(const sim::Scenario& scenario, const sim::SampleOptions& options) {
  const auto found = sim::explore_samples(counted(scenario), options);
  judge(found.runs, found.failure);
  if (active != 0) return;
  EXPECT_EQ(found.fired.size(), options.menu.size());
}

}  // namespace anyrdma::planted
