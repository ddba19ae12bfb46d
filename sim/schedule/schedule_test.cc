// The order of the ready work: chosen by policies, written down, repeated.
#include "sim/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "sim/explore/trial.h"
#include "sim/testing/life.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr std::uint64_t kSeeds = 50;

struct Lived {
  std::uint64_t hash = 0;
  std::vector<Deviation> deviations;
};

Lived run_lives(std::uint64_t seed, const Schedule& schedule) {
  World world(seed, {.tracing = Tracing::kHash, .schedule = schedule});
  Host& client = world.add_host("client", {"192.0.2.1"});
  Host& server = world.add_host("server", {"192.0.2.2"});
  world.set_link(client, server, {.loss = 0.1, .duplicate = 0.1});
  Lived run;
  {
    Life life(world, client, server);
    life.start();
    (void)world.run();  // a server that comes too late waits for ever
  }
  run.hash = world.trace().hash();
  run.deviations = world.scheduler().deviations();
  return run;
}

const Schedule kRandom{.policy = Policy::kRandom, .slack = 10us};
const Schedule kPct{.policy = Policy::kPct, .changes = 3, .slack = 10us};

TEST(Schedule, GivenNothingIsFifo) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    EXPECT_EQ(run_lives(seed, {.policy = Policy::kGiven}).hash, run_lives(seed, {}).hash) << seed;
  }
}

TEST(Schedule, WhatWasChosenRepeatsTheRun) {
  std::set<std::uint64_t> hashes;
  for (const Schedule& schedule : {kRandom, kPct}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Lived first = run_lives(seed, schedule);
      const Lived again = run_lives(
          seed,
          {.policy = Policy::kGiven, .slack = schedule.slack, .deviations = first.deviations});

      EXPECT_EQ(again.hash, first.hash) << seed;
      hashes.insert(first.hash);
    }
  }
  EXPECT_GT(hashes.size(), kSeeds * 3 / 2);
}

/// What two fibers write down that give way between their words.
std::string two_that_give_way(const Schedule& schedule) {
  World world(1, {.schedule = schedule});
  std::string words;
  for (const char* word : {"a", "b"}) {
    world.add_host(word, {}).spawn(word, [&words, &world, word] {
      words += word;
      world.scheduler().give_way();
      words += word;
    });
  }
  EXPECT_TRUE(world.run());
  return words;
}

TEST(Schedule, WhoGivesWayGoesOnUnlessSomebodyElseIsChosen) {
  EXPECT_EQ(two_that_give_way({}), "aabb");
  EXPECT_EQ(two_that_give_way({.policy = Policy::kGiven}), "aabb");
  // At the first point both wait for their first turn, at the second the first one gives way.
  EXPECT_EQ(two_that_give_way({.policy = Policy::kGiven, .deviations = {{1, 1}}}), "abba");
}

TEST(Schedule, TheSameOrderIsChosenOnEveryCompilerAndOptimisationLevel) {
  const auto text = [](const Lived& run) {
    char hash[32];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(run.hash));
    return std::string(hash);
  };
  EXPECT_EQ(text(run_lives(7, kRandom)), "bdb5b0655d5392ef");
  EXPECT_EQ(text(run_lives(7, kPct)), "6e4379a0eda4c1d1");
}

/// Three programs that are ready at once; in which order they run.
std::string order(std::uint64_t seed, const Schedule& schedule) {
  World world(seed, {.schedule = schedule});
  Host& host = world.add_host("host", {"10.0.0.1"});
  std::string order;
  for (const char name : {'a', 'b', 'c'}) {
    host.spawn(std::string(1, name), [&order, name] { order += name; });
  }
  EXPECT_TRUE(world.run());
  return order;
}

TEST(Schedule, RandomAndPctComeToEveryOrder) {
  for (const Schedule& schedule : {kRandom, kPct}) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) orders.insert(order(seed, schedule));
    EXPECT_THAT(orders, ElementsAre("abc", "acb", "bac", "bca", "cab", "cba"));
  }
}

TEST(Schedule, GivenChoicesAreMade) {
  const auto given = [](std::vector<Deviation> deviations) {
    return Schedule{.policy = Policy::kGiven, .deviations = std::move(deviations)};
  };
  EXPECT_EQ(order(1, given({})), "abc");
  EXPECT_EQ(order(1, given({{0, 2}})), "cab");
  EXPECT_EQ(order(1, given({{0, 1}, {1, 1}})), "bca");
  EXPECT_EQ(order(1, given({{0, 99}, {7, 1}})), "cab");  // the last; no such point
}

TEST(Schedule, ABusyMachineKeepsAProgramWaitingNoLongerThanTheSlack) {
  std::set<Duration> late;
  for (std::uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    World world(seed, {.schedule = {.policy = seed % 2 == 0 ? Policy::kRandom : Policy::kPct,
                                    .slack = 10us}});
    Host& host = world.add_host("host", {"10.0.0.1"});
    host.spawn("clock", [&] {
      for (int i = 0; i < 100; ++i) (void)host.sleep(1us);
    });
    host.spawn("program", [&] { late.insert(world.now().time_since_epoch()); });
    EXPECT_TRUE(world.run());
  }
  EXPECT_EQ(*late.begin(), 0us);
  EXPECT_GT(*late.rbegin(), 0us);
  EXPECT_LE(*late.rbegin(), 10us);
}

TEST(Schedule, ABranchIsTheFirstSeedsRunUpToItsDecision) {
  for (const Schedule& schedule : {kRandom, kPct}) {
    const Lived first = run_lives(1, schedule);
    ASSERT_GT(first.deviations.size(), 4u);
    const std::uint64_t until = first.deviations[first.deviations.size() / 4].point;
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Schedule branched = schedule;
      branched.branches = {{.until = until, .seed = 100 + seed}};
      const Lived run = run_lives(1, branched);
      hashes.insert(run.hash);
      EXPECT_EQ(run_lives(1, branched).hash, run.hash) << "of the same trial";
      for (std::size_t i = 0; first.deviations[i].point < until; ++i)
        EXPECT_EQ(run.deviations.at(i), first.deviations[i]);
    }
    EXPECT_GT(hashes.size(), 2u);
  }
}

TEST(Schedule, ABranchOfADefaultOrderChangesChanceAndNoOrder) {
  const Lived fifo = run_lives(3, {});
  const Lived same = run_lives(3, {.branches = {{.until = 1'000'000, .seed = 4}}});
  const Lived other = run_lives(3, {.branches = {{.until = 5, .seed = 4}}});

  EXPECT_EQ(same.hash, fifo.hash);
  EXPECT_NE(other.hash, fifo.hash);
  EXPECT_TRUE(other.deviations.empty());
}

TEST(Schedule, ChangesOfPrioritiesComeAtThePointsThatAreGiven) {
  std::set<std::string> orders;
  for (std::uint64_t point = 0; point < 2; ++point) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      orders.insert(order(seed, {.policy = Policy::kPct, .changes = 0, .at = {point}}) +
                    std::to_string(point) + order(seed, {.policy = Policy::kPct, .changes = 0}));
  }
  // The first to come at the point is not the one that would have come.
  EXPECT_FALSE(orders.contains("abc0abc"));
  EXPECT_TRUE(orders.contains("bca0abc") || orders.contains("bac0abc"));
  EXPECT_TRUE(orders.contains("acb1abc"));
}

/// Choices among random candidates, with and without asking ahead how often the first is chosen.
TEST(Schedule, KnowsAheadHowOftenItChoosesTheFirst) {
  constexpr std::uint64_t kMost = 64;
  const Schedule given{.policy = Policy::kGiven, .deviations = {{40, 1}, {41, 2}, {900, 1}}};
  const Schedule branch{.policy = Policy::kRandom, .branches = {{.until = 300, .seed = 9}}};
  std::size_t passed = 0;
  for (const Schedule& schedule : {kRandom, kPct, given, branch, Schedule{}}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Seeds seeds(seed, schedule.branches), same_seeds(seed, schedule.branches);
      Chooser plain(schedule, seeds), asked(schedule, same_seeds);
      RandomStream dice(seed, "candidates");
      for (int round = 0; round < 300; ++round) {
        std::vector<std::uint64_t> candidates(1 + dice.below(3));
        std::uint64_t lane = 0;
        for (std::uint64_t& each : candidates) each = 10 * lane++ + dice.below(3);
        const std::uint64_t ahead = asked.stays(candidates, kMost);
        ASSERT_LE(ahead, kMost);
        const std::uint64_t taken = dice.below(ahead + 1);
        passed += taken;
        for (std::uint64_t i = 0; i < taken; ++i) {
          ASSERT_EQ(plain.choose(candidates), 0u) << "seed " << seed << ", round " << round;
          ASSERT_EQ(asked.choose(candidates), 0u);
        }
        ASSERT_EQ(plain.choose(candidates), asked.choose(candidates));
        ASSERT_EQ(plain.points(), asked.points());
      }
      EXPECT_EQ(plain.deviations(), asked.deviations());
    }
  }
  EXPECT_GT(passed, 10'000u);
}

TEST(Schedule, ChoosesTheFirstAtMostAsOftenAsItSays) {
  constexpr std::uint64_t kMost = 1000;
  const std::array<std::uint64_t, 2> candidates{1, 2};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Seeds seeds(seed);
    Chooser chooser(kRandom, seeds);
    const std::uint64_t ahead = chooser.stays(candidates, kMost);
    ASSERT_LT(ahead, kMost);  // one of two, each time
    for (std::uint64_t i = 0; i < ahead; ++i) ASSERT_EQ(chooser.choose(candidates), 0u);
    EXPECT_EQ(chooser.choose(candidates), 1u);
  }
}

TEST(Trial, IsItsText) {
  Trial trial;
  trial.seed = 7;
  trial.plan =
      FaultPlan::parse("maybe at 6us: remove client anyrdma0\non a->b REQ 1: lose").value();
  trial.schedule = {.policy = Policy::kGiven, .slack = 10us, .deviations = {{12, 1}, {40, 2}}};
  trial.workload = {{.name = "connections", .value = 2, .least = 0}};
  const std::string text =
      "seed 7; schedule/2 given 12:1 40:2; slack 10us; set connections 2; "
      "maybe at 6us: remove client anyrdma0; on a->b REQ 1: lose";

  EXPECT_EQ(trial.to_string(), text);
  EXPECT_EQ(Trial::parse(text).value(), trial);
  EXPECT_EQ(Trial::parse(trial.to_string("\n")).value(), trial);
  EXPECT_EQ(Trial::parse("").value(), Trial{});
  EXPECT_EQ(Trial::parse("schedule/2 random").value().schedule.policy, Policy::kRandom);
  EXPECT_EQ(Trial::parse("schedule/2 pct 5 9").value().to_string(), "seed 1; schedule/2 pct 5 9");
}

TEST(Trial, ASeedUpToADecisionAndThenAnotherIsItsText) {
  const std::string text =
      "seed 7 until 151; seed 80 until 400; seed 3; schedule/2 pct 1 200 at 4 9";
  const Trial trial = Trial::parse(text).value();

  EXPECT_EQ(trial.seed, 7u);
  EXPECT_THAT(trial.schedule.branches,
              ElementsAre(Branch{.until = 151, .seed = 80}, Branch{.until = 400, .seed = 3}));
  EXPECT_THAT(trial.schedule.at, ElementsAre(4u, 9u));
  EXPECT_EQ(trial.to_string(), text);
  EXPECT_EQ(Trial::parse(trial.to_string("\n")).value(), trial);
  EXPECT_EQ(Trial::parse("seed 7 until 151; seed 80").value().to_string(),
            "seed 7 until 151; seed 80; schedule/2 fifo");
}

TEST(Trial, ASeedThatBeginsBehindTheRunIsSaid) {
  const Trial trial = Trial::parse("seed 7 until 151; seed 80; schedule/2 random").value();

  EXPECT_EQ(trial.unreached(152), "");
  EXPECT_EQ(trial.unreached(151),
            "seed 80 begins at decision 151, but the run had only 151 decisions");
}

TEST(Trial, WhatIsWrongWithATextIsSaidWithItsPart) {
  const auto why = [](std::string_view text) { return Trial::parse(text).error().to_string(); };

  EXPECT_EQ(why("seed x"), "line 1: a seed is a number: seed 7");
  EXPECT_EQ(why("seed 1 2"), "line 1: a seed is one up to a decision: seed 7 until 151; seed 80");
  EXPECT_EQ(why("seed 1 until"),
            "line 1: a seed is one up to a decision: seed 7 until 151; seed 80");
  EXPECT_EQ(why("seed 1 until 5"),
            "line 1: behind 'until 5' a seed is missing: seed 7 until 151; seed 80");
  EXPECT_EQ(why("seed 1 until 5; seed 2 until 5; seed 3"),
            "line 2: the decisions at which seeds begin ascend: 5, then 5");
  EXPECT_EQ(why("seed 1 until 5; seed 2; seed 3"),
            "line 3: seed 3 begins at no decision: say 'until' of the seed before");
  EXPECT_EQ(why("schedule/2 pct 1 9 at"), "line 1: pct 2 200 at POINT...");
  EXPECT_EQ(why("schedule/2 pct 1 9 at 4 4"), "line 1: the points of changes ascend");
  EXPECT_EQ(why("seed 99999999999999999999"), "line 1: a seed is a number: seed 7");
  EXPECT_EQ(why("seed 1; set connections"),
            "line 2: a parameter has a name and a number: set connections 2");
  EXPECT_EQ(why("seed 1; seed 2"), "line 2: a trial has one 'seed'. Remove the other");
  EXPECT_EQ(why("seed 1; seed 2 until 5; seed 3"),
            "line 2: a trial has one 'seed'. Remove the other");
  EXPECT_EQ(why("slack 1us; slack 1us"), "line 2: a trial has one 'slack'. Remove the other");
  EXPECT_EQ(why("memory spec; memory strict"),
            "line 2: a trial has one 'memory'. Remove the other");
  EXPECT_EQ(why("schedule/2 fifo; schedule/2 random"),
            "line 2: a trial has one 'schedule/2'. Remove the other");
  EXPECT_EQ(why("set connections 2; set connections 3"),
            "line 2: a trial sets 'connections' once. Remove the other");
  EXPECT_EQ(why("schedule/2 fair"), "line 1: no such schedule 'fair': fifo, random, pct or given");
  EXPECT_EQ(why("schedule/2 given 1:0"), "line 1: a choice is POINT:NUMBER, not '1:0'");
  EXPECT_EQ(why("schedule/2 given 2:1 1:1"), "line 1: the points of choices ascend");
  EXPECT_EQ(why("schedule/2 random 3"), "line 1: '3' is not expected");
  EXPECT_EQ(why("seed 7; schedule given 12:1"),
            "line 2: this trial is of another version of anyrdma: its 'schedule' counts other "
            "scheduling points than 'schedule/2' does. Search again with this version");
  EXPECT_NE(why("schedule/3 random").find("another version"), std::string::npos);
  EXPECT_NE(why("seed 1\nslack fast").find("line 2: "), std::string::npos);
  EXPECT_NE(why("at 1s: explode").find("explode"), std::string::npos);
}

}  // namespace
}  // namespace anyrdma::sim::testing
