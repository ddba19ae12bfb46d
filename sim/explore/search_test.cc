// What a search tells of its failures, and how it makes them smaller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/explore/explore.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;

FaultPlan plan_of(const char* text) {
  return FaultPlan::parse(text).value();
}

/// Its faults have fired, whatever their moment.
Outcome all_fire(const Trial& trial) {
  Outcome outcome;
  for (const Fault& fault : trial.plan.faults)
    outcome.faults.push_back({.fault = fault, .fired = 1});
  return outcome;
}

TEST(Search, ABudgetIncludesMakingTheFailureSmaller) {
  ExploreOptions options{.runs = 1'000'000, .faults_max = 100, .budget = 1ns};
  for (int i = 0; i < 100; ++i)
    options.menu.push_back({AtTime{1ms * i}, SlowPath{"a", "b", true, 1us}});
  std::size_t faults = 0;
  for (options.first_seed = 1; options.first_seed < 10; ++options.first_seed) {
    int runs = 0;
    const Exploration found = explore(options, [&](const Trial&) {
      ++runs;
      return Outcome{.problem = "wrong\n"};
    });

    ASSERT_TRUE(found.failure);
    EXPECT_EQ(found.failure->trial.plan.faults.size(), found.failure->faults_found);
    EXPECT_LE(runs, 2) << "once more, as a failure may not come again";
    faults += found.failure->faults_found;
  }
  EXPECT_GT(faults, 0u);
}

// Nearly a third of the runs have the removal; where each line is as likely, a fifth.
TEST(Search, AKindOfManyLinesIsAsLikelyAsOneOfOne) {
  constexpr std::uint32_t kLines = 50;
  ExploreOptions options{.runs = 400};
  options.menu = plan_of("at 1s: remove a anyrdma0").faults;
  for (std::uint32_t i = 1; i <= kLines; ++i) {
    const std::string line = "on a->b packet " + std::to_string(i) + ": lose";
    options.menu.push_back(plan_of(line.c_str()).faults.front());
  }
  int removals = 0;

  (void)explore(options, [&](const Trial& trial) {
    removals += trial.plan.to_string().find("remove") != std::string::npos;
    return all_fire(trial);
  });

  EXPECT_GT(removals, 110);
}

TEST(Search, HalfOfTheInstantsAreNearSomethingThatHappens) {
  ExploreOptions options{.runs = 400, .moments = {10ms, 10'020us}};
  options.menu = plan_of("between 0s and 8s: cut a->b").faults;
  int near = 0;
  int all = 0;

  (void)explore(options, [&](const Trial& trial) {
    for (const Fault& fault : trial.plan.faults) {
      const auto time = std::get<AtTime>(fault.trigger).time;
      near += time >= 10ms && time <= 10'120us;
      ++all;
    }
    return all_fire(trial);
  });

  EXPECT_GT(near, all / 3);
  EXPECT_LT(near, all * 2 / 3);
}

// Else a program would be stopped for longer than the run may take.
TEST(Search, WhatLastsComesOnceOnAPacketByChance) {
  ExploreOptions options{.runs = 400};
  options.menu = plan_of("on *->a packet 10%: pause a for 1ms to 10s").faults;
  std::set<std::uint32_t> numbers;

  (void)explore(options, [&](const Trial& trial) {
    for (const Fault& fault : trial.plan.faults) {
      const auto& occurrence = std::get<OnPacket>(fault.trigger).occurrence;
      EXPECT_EQ(occurrence.per_million, fault::Occurrence::kCertain);
      numbers.insert(occurrence.number);
    }
    return all_fire(trial);
  });

  EXPECT_GT(numbers.size(), 20u);
  EXPECT_LT(*numbers.begin(), 5u);
  EXPECT_LT(*numbers.rbegin(), 200u);
}

TEST(Search, HalfOfWhatLastsIsOverBeforeTheRunIs) {
  ExploreOptions options{.runs = 400, .moments = {1ms, 100ms}};
  options.menu = plan_of("between 0s and 100ms: cut a->b for 1ms to 1000s").faults;
  int soon = 0;
  int all = 0;

  (void)explore(options, [&](const Trial& trial) {
    for (const Fault& fault : trial.plan.faults) {
      soon += fault.lasts.most <= 100ms;
      ++all;
    }
    return all_fire(trial);
  });

  EXPECT_GT(soon, all / 2);
  EXPECT_LT(soon, all * 5 / 6);
}

TEST(Search, ShrinkingEndsWithTheSmallestTrialWhenItIsTold) {
  Trial trial;
  for (int i = 0; i < 64; ++i) trial.plan.maybe(AtTime{1ms * i}, SlowPath{"a", "b", true, 1us});
  const Scenario wrong = [](const Trial& each) {
    return Outcome{.problem = each.plan.faults.empty() ? "" : "wrong\n"};
  };
  int runs = 0;
  const Trial smaller = shrink(wrong, trial, {.stop = [&] { return ++runs > 4; }});

  EXPECT_LT(smaller.plan.faults.size(), 64u);
  EXPECT_GT(smaller.plan.faults.size(), 1u);
}

// Without the first fault it goes wrong in another way, which is not what was found.
TEST(Search, ShrinkingKeepsTheKindOfFailure) {
  const Scenario two_ways = [](const Trial& trial) {
    const std::string text = trial.plan.to_string();
    if (text.find("at 1s") != std::string::npos) return Outcome{.problem = "rare, at 12 s\n"};
    return Outcome{.problem = "common\n"};
  };

  const Trial guilty = shrink(two_ways, {.plan = plan_of("at 1s: cut a->b\nat 2s: cut a->b")});

  EXPECT_EQ(guilty.plan, plan_of("at 1s: cut a->b"));
}

TEST(Search, AFailureThatDoesNotComeAgainIsToldAsItWas) {
  int runs = 0;
  const Scenario once = [&](const Trial&) {
    return Outcome{.problem = ++runs == 1 ? "wrong\n" : ""};
  };

  const Exploration found = explore({.runs = 1}, once);

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->outcome.problem, "once, and not when it was run again:\nwrong\n");
  EXPECT_EQ(runs, 2);
}

TEST(Search, NamesTheFewOfThousandStrikesThatMatter) {
  const Scenario two_matter = [](const Trial& trial) {
    Outcome outcome;
    std::vector<std::uint32_t> struck;
    for (const Fault& fault : trial.plan.faults) {
      FaultStatus& status = outcome.faults.emplace_back();
      status.fault = fault;
      const Occurrence which = fault::occurrence_of(fault.trigger);
      for (std::uint32_t number = 1; number <= 3000; number += 3) {
        const bool chance = which.per_million != Occurrence::kCertain;
        if (chance) status.chosen.push_back(number);
        if (chance || which.number == number) struck.push_back(number);
      }
    }
    const auto has = [&](std::uint32_t number) {
      return std::find(struck.begin(), struck.end(), number) != struck.end();
    };
    if (has(1000) && has(2200)) outcome.problem = "wrong\n";
    return outcome;
  };

  const Trial guilty = shrink(two_matter, {.plan = plan_of("on a->b packet 30%: lose")});

  EXPECT_EQ(guilty.plan, plan_of("on a->b packet 1000: lose\non a->b packet 2200: lose"));
}

TEST(Search, MakesInstantsRoundAndDurationsShort) {
  const Scenario crashed_then = [](const Trial& trial) {
    Outcome outcome;
    for (const Fault& fault : trial.plan.faults) {
      const auto* const at = std::get_if<AtTime>(&fault.trigger);
      if (at != nullptr && at->time >= 1150ms && at->time <= 1260ms && fault.lasts.least >= 40ms)
        outcome.problem = "wrong\n";
    }
    return outcome;
  };

  const Trial guilty = shrink(crashed_then, {.plan = plan_of("at 1.234567s: crash s1 for 300ms")});

  EXPECT_EQ(guilty.plan, plan_of("at 1.2s: crash s1 for 50ms"));
}

TEST(Search, DrawsInstantsAndDurationsForTheTrialAndCountsTheMenusFault) {
  const FaultPlan menu = plan_of("between 100ms and 2s: crash s1 for 10ms to 5s");
  std::size_t drawn = 0;
  const Exploration found = explore({.runs = 50, .menu = menu.faults}, [&](const Trial& trial) {
    for (const Fault& fault : trial.plan.faults) {
      drawn +=
          std::holds_alternative<AtTime>(fault.trigger) && fault.lasts.least == fault.lasts.most;
    }
    return all_fire(trial);
  });

  EXPECT_GT(drawn, 5u);
  EXPECT_EQ(found.fired.size(), 1u);
  EXPECT_EQ(found.to_string(), "50 runs");
}

TEST(Search, OnlyGoesOnUntilAFailureSaysThat) {
  const Scenario scenario = [](const Trial& trial) {
    if (trial.seed == 30) return Outcome{.problem = "client lost 3 messages\n"};
    return Outcome{.problem = trial.seed % 2 == 0 ? "server ended with 1\n" : ""};
  };

  const Exploration found = explore({.runs = 100, .only = "lost"}, scenario);

  EXPECT_EQ(found.runs, 30u);
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.seed, 30u);
  EXPECT_EQ(found.kinds.size(), 1u);
  EXPECT_THAT(found.others, ElementsAre(Pair("server ended with #", 14u)));
  EXPECT_EQ(found.other_failures(), "14 failed in another way: server ended with #\n");
}

TEST(Search, NamesTheFaultsOfTheMenuThatNeverFiredAndOnlyThose) {
  ExploreOptions options{.runs = 50, .menu = plan_of("at 1s: cut a->b\nat 2s: cut b->a").faults};
  const Scenario second_never = [](const Trial& trial) {
    Outcome outcome = all_fire(trial);
    for (FaultStatus& each : outcome.faults) {
      if (sim::to_string(each.fault).find("2s") != std::string::npos) each.fired = 0;
    }
    return outcome;
  };

  EXPECT_EQ(explore(options, second_never).to_string(),
            "50 runs; never fired: maybe at 2s: cut b->a");
}

TEST(Search, TheFaultsOfARunThatDiedAreNotSaidToHaveNeverFired) {
  ExploreOptions options{.runs = 50, .menu = plan_of("at 1s: cut a->b").faults, .jobs = 1};
  const Scenario dies = [](const Trial& trial) {
    if (!trial.plan.faults.empty()) std::raise(SIGKILL);
    return Outcome{};
  };

  const Exploration found = explore(options, dies);

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.plan, plan_of("maybe at 1s: cut a->b"));
  EXPECT_EQ(found.fired.at("maybe at 1s: cut a->b"), 1u);
}

TEST(Search, AnInterruptedSearchSaysSo) {
  int asked = 0;
  const Exploration found =
      explore({.runs = 1'000'000, .jobs = 2, .interrupted = [&] { return ++asked > 20; }},
              [](const Trial&) { return Outcome{}; });

  EXPECT_TRUE(found.interrupted);
  EXPECT_LT(found.runs, 1'000'000u);
}

}  // namespace
}  // namespace anyrdma::sim
