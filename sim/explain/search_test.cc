// The search for what a failure depends on, over a model of programs instead of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/explain/bisect.h"
#include "sim/explain/explanation.h"
#include "sim/explain/fork.h"
#include "sim/explain/pair.h"
#include "sim/explain/script.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim::explain {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Threads whose steps are letters, one after the other. A run is the word of the letters in the
/// order in which they ran, and a function says whether such a word is a failure. As in the
/// simulator, the default order lets a thread go on until it ends.
class Model {
 public:
  using Fails = std::function<bool(const std::string& word, const Trial& trial)>;

  Model(std::vector<std::string> threads, Fails fails)
      : threads_(std::move(threads)), fails_(std::move(fails)) {}

  [[nodiscard]] Judge judge() {
    return [this](const std::vector<Probe>& probes) {
      std::vector<Answer> answers;
      for (const Probe& probe : probes) {
        if (runs == runs_max) return answers;
        ++runs;
        answers.push_back(run(probe));
        time += answers.back().end.count();
      }
      return answers;
    };
  }

  [[nodiscard]] std::string word_of(const Trial& trial) { return run({.trial = trial}, true).word; }

  /// How much longer a run takes than its steps: a program polls before it gives up, or waits.
  std::function<std::int64_t(const std::string& word)> tail{};
  std::size_t runs = 0;
  std::size_t runs_max = 100'000;
  std::int64_t time = 0;  ///< of all runs

 private:
  struct Run : Answer {
    std::string word;
  };

  [[nodiscard]] Run run(const Probe& probe, bool with_word = false) const {
    Run run;
    std::vector<std::uint64_t> ready;
    std::vector<std::size_t> done(threads_.size());
    for (std::size_t i = 0; i < threads_.size(); ++i) ready.push_back(i);
    std::optional<RandomStream> random;
    if (probe.drawn) random.emplace(probe.drawn->seed, "model");
    Script script(probe.script);
    std::uint64_t point = 0;
    std::string word;
    for (std::uint64_t number = 0; !ready.empty(); ++number) {
      const std::size_t choice = [&]() -> std::size_t {
        if (!probe.script.empty() && number >= probe.script_from) {
          if (const auto wanted = script.next(ready)) return *wanted;
        }
        if (ready.size() == 1) return 0;
        if (random && point >= probe.drawn->from) return random->below(ready.size());
        for (const Deviation& each : probe.trial.schedule.deviations) {
          if (each.point == point) return std::min<std::size_t>(each.choice, ready.size() - 1);
        }
        return 0;
      }();
      const std::size_t thread = ready[choice];
      const bool decided = ready.size() > 1;
      run.steps.push_back({.mover = thread,
                           .point = point,
                           .choice = static_cast<std::uint32_t>(choice),
                           .decided = decided,
                           .time = verbs::Duration(number)});
      if (decided) {
        if (choice != 0)
          run.outcome.deviations.push_back({point, static_cast<std::uint32_t>(choice)});
        ++point;
      }
      word += threads_[thread][done[thread]];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(choice));
      if (++done[thread] < threads_[thread].size()) ready.insert(ready.begin(), thread);
    }
    run.outcome.choices = point;
    run.end = verbs::Duration(static_cast<std::int64_t>(word.size()) + (tail ? tail(word) : 0));
    run.stopped = probe.limit && run.end > *probe.limit;
    if (run.stopped) run.end = std::max(*probe.limit, verbs::Duration(word.size()));
    if (run.stopped || fails_(word, probe.trial)) run.outcome.problem = "it fails\n";
    if (with_word) run.word = word;
    if (!probe.keeps_steps) run.steps.clear();
    return run;
  }

  std::vector<std::string> threads_;
  Fails fails_;
};

bool comes_before(const std::string& word, char first, char second) {
  return word.find(first) < word.find(second);
}

Trial given(std::vector<Deviation> choices) {
  return with_choices({}, std::move(choices));
}

/// The letters that the two threads of a pair are about to run.
std::pair<char, char> letters_of(Model& model, const CriticalPair& pair) {
  const std::string word = model.word_of(pair.fails);
  return {word[pair.step], word[pair.step + 1]};
}

TEST(Bisect, FindsTheNeighboursAtWhichTheVerdictChanges) {
  for (std::size_t turn = 1; turn <= 20; ++turn) {
    const auto found = bisect(0, 20, false, [&](const std::vector<std::size_t>& numbers) {
      std::vector<bool> verdicts;
      for (const std::size_t number : numbers) verdicts.push_back(number >= turn);
      return verdicts;
    });
    EXPECT_EQ(found, turn - 1);
  }
}

TEST(Bisect, FindsNeighboursAlsoWhereTheVerdictChangesOften) {
  for (std::size_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, "verdicts");
    std::vector<bool> verdicts{true};
    while (verdicts.size() < 100) verdicts.push_back(random.below(2) != 0);
    verdicts.push_back(false);
    const auto found =
        bisect(0, verdicts.size() - 1, true, [&](const std::vector<std::size_t>& numbers) {
          std::vector<bool> some;
          for (const std::size_t number : numbers) some.push_back(verdicts[number]);
          return some;
        });

    ASSERT_TRUE(found);
    EXPECT_TRUE(verdicts[*found]);
    EXPECT_FALSE(verdicts[*found + 1]);
  }
}

TEST(Bisect, EndsWithTheSearch) {
  EXPECT_FALSE(bisect(0, 9, true, [](const auto&) { return std::vector<bool>{}; }));
}

TEST(Explain, ATrialThatPassesIsNotExplained) {
  Model model({"abc", "xyz"}, [](const std::string&, const Trial&) { return false; });

  const Explanation found = explain(given({{0, 1}}), model.judge());

  EXPECT_FALSE(found.fails);
  EXPECT_FALSE(found.pair);
  EXPECT_EQ(model.runs, 1u);
}

TEST(Explain, TheTwoStepsWhoseOrderMattersAreThePair) {
  // Wherever they are in their threads.
  const std::string one = "abcdefgh";
  const std::string other = "stuvwxyz";
  for (const char first : other) {
    for (const char second : one) {
      Model model({one, other}, [&](const std::string& word, const Trial&) {
        return comes_before(word, first, second);
      });
      // The second thread runs first.
      const Explanation found = explain(given({{0, 1}}), model.judge());

      ASSERT_TRUE(found.pair) << first << second;
      EXPECT_EQ(letters_of(model, *found.pair), std::make_pair(first, second));
      const std::string fails = model.word_of(found.pair->fails);
      std::string exchanged = model.word_of(found.pair->passes);
      EXPECT_TRUE(comes_before(fails, first, second));
      EXPECT_TRUE(comes_before(exchanged, second, first));
      std::swap(exchanged[found.pair->step], exchanged[found.pair->step + 1]);
      EXPECT_EQ(fails, exchanged);
      EXPECT_THAT(found.ends, IsEmpty());
    }
  }
}

TEST(Explain, ALostUpdateIsAPairOfItsReadsAndWrites) {
  // Both threads read, then write.
  Model model({"..r..w..", "..R..W.."}, [](const std::string& word, const Trial&) {
    return comes_before(word, 'r', 'W') && comes_before(word, 'R', 'w');
  });
  // The first thread is interrupted behind its read.
  const Explanation found = explain(given({{4, 1}}), model.judge());

  ASSERT_TRUE(found.pair);
  EXPECT_EQ(letters_of(model, *found.pair), std::make_pair('R', 'w'));
}

TEST(Explain, OfAnIntervalBothEndsAreFound) {
  // The other thread's step is harmful between the check and the act.
  for (std::size_t check = 0; check < 6; ++check) {
    for (std::size_t act = check + 1; act < 7; ++act) {
      for (std::size_t harm = 0; harm < 3; ++harm) {
        std::string one(7, '.');
        std::string other(3, '.');
        one[check] = 'c';
        one[act] = 'a';
        other[harm] = 'h';
        Model model({one, other}, [](const std::string& word, const Trial&) {
          return comes_before(word, 'c', 'h') && comes_before(word, 'h', 'a');
        });
        // The first thread is interrupted right behind its check, by all of the other one.
        const Explanation found = explain(given({{check + 1, 1}}), model.judge());

        ASSERT_TRUE(found.pair) << one << ' ' << other;
        std::vector<std::pair<char, char>> pairs{letters_of(model, *found.pair)};
        for (const CriticalPair& end : found.ends) pairs.push_back(letters_of(model, end));
        EXPECT_THAT(pairs, UnorderedElementsAre(std::make_pair('c', 'h'), std::make_pair('h', 'a')))
            << one << ' ' << other;
      }
    }
  }
}

TEST(Explain, AFailureInTheDefaultOrderIsComparedWithAnotherOrder) {
  Model model({"abcd", "xyz"},
              [](const std::string& word, const Trial&) { return comes_before(word, 'c', 'y'); });

  const Explanation found = explain(given({}), model.judge());

  ASSERT_TRUE(found.pair);
  EXPECT_EQ(letters_of(model, *found.pair), std::make_pair('c', 'y'));
}

TEST(Explain, AFailureInEveryOrderHasNoPair) {
  Model model({"abcd", "xyz"}, [](const std::string&, const Trial&) { return true; });

  const Explanation found = explain(given({{2, 1}}), model.judge());

  EXPECT_TRUE(found.fails);
  EXPECT_FALSE(found.pair);
  EXPECT_THAT(found.no_pair, Not(IsEmpty()));
  EXPECT_FALSE(found.out_of_time);
}

TEST(Explain, LongRunsNeedFewRuns) {
  const std::string early(1200, '.');
  const std::string late(700, '.');
  Model model({early + "a" + late, late + "x" + early},
              [](const std::string& word, const Trial&) { return comes_before(word, 'x', 'a'); });

  const Explanation found = explain(given({{17, 1}}), model.judge(), {.points = 2, .runs = 3});

  ASSERT_TRUE(found.pair);
  EXPECT_EQ(letters_of(model, *found.pair), std::make_pair('x', 'a'));
  EXPECT_LT(model.runs, 100u);
}

TEST(Explain, RunsThatHangAreStopped) {
  const auto fails = [](const std::string& word, const Trial&) {
    return comes_before(word, 'x', 'e');
  };
  Model model({"abcdefgh", "stuvwxyz"}, fails);
  constexpr std::int64_t kHang = 100'000;
  model.tail = [&](const std::string& word) { return fails(word, {}) ? kHang : 0; };

  const Explanation found = explain(given({{1, 1}}), model.judge());

  ASSERT_TRUE(found.pair);
  EXPECT_EQ(letters_of(model, *found.pair), std::make_pair('x', 'e'));
  EXPECT_LT(model.time, 16 * kHang);  // the first runs, and those that must be certain
  EXPECT_GT(model.runs, 80u);
}

TEST(Explain, ARunThatPassesLateIsNoFailureOfAPair) {
  std::size_t pairs = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, "late");
    const std::string letters = "abcdefghijklmn";
    std::vector<char> four;
    for (int i = 0; i < 4; ++i) four.push_back(letters[random.below(letters.size())]);
    const auto fails = [&](const std::string& word, const Trial&) {
      return comes_before(word, four[0], four[1]);
    };
    Model model({letters.substr(0, 7), letters.substr(7)}, fails);
    model.tail = [&](const std::string& word) {
      return comes_before(word, four[2], four[3]) ? 1000 : 0;
    };
    std::vector<Deviation> choices;
    for (std::uint64_t point = 0; point < 12; ++point)
      if (random.below(2) != 0) choices.push_back({point, 1});

    const Explanation found = explain(given(choices), model.judge());
    if (!found.pair) continue;

    ++pairs;
    EXPECT_TRUE(fails(model.word_of(found.pair->fails), {})) << seed;
    EXPECT_FALSE(fails(model.word_of(found.pair->passes), {})) << seed;
    for (const CriticalPair& end : found.ends) {
      EXPECT_TRUE(fails(model.word_of(end.fails), {})) << seed;
      EXPECT_FALSE(fails(model.word_of(end.passes), {})) << seed;
    }
  }
  EXPECT_GT(pairs, 60u);
}

TEST(Explain, OfTheFaultsThoseThatAreNeededAreNamed) {
  const FaultPlan plan =
      FaultPlan::parse("at 1ms: remove a anyrdma0\nat 2ms: remove b anyrdma0\n").value();
  Model model({"abcd", "xyz"}, [&](const std::string&, const Trial& trial) {
    return std::ranges::find(trial.plan.faults, plan.faults[1]) != trial.plan.faults.end();
  });
  Trial trial = given({});
  trial.plan = plan;

  const Explanation found = explain(trial, model.judge());

  ASSERT_THAT(found.faults, SizeIs(2));
  EXPECT_FALSE(found.faults[0].needed);
  EXPECT_TRUE(found.faults[1].needed);
  EXPECT_EQ(found.faults[1].text, to_string(plan.faults[1]));
  EXPECT_THAT(found.faults[1].without.plan.faults, ElementsAre(plan.faults[0]));
}

/// Runs of 20 ms that fail if their only fault happens within these instants.
Judge judge_of_instants(verbs::Duration first, verbs::Duration last, std::size_t& runs) {
  return [=, &runs](const std::vector<Probe>& probes) {
    std::vector<Answer> answers(probes.size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
      ++runs;
      answers[i].steps = {{.time = 20ms}};
      answers[i].end = 20ms;
      if (probes[i].trial.plan.faults.empty()) continue;
      const verbs::Duration at = std::get<AtTime>(probes[i].trial.plan.faults.front().trigger).time;
      if (at >= first && at <= last) answers[i].outcome.problem = "it fails\n";
    }
    return answers;
  };
}

Trial with_fault(const char* line) {
  Trial trial = given({});
  trial.plan = FaultPlan::parse(line).value();
  return trial;
}

TEST(Explain, TheInstantsAtWhichAFaultMakesTheRunFailAreFound) {
  std::size_t runs = 0;
  const Explanation found =
      explain(with_fault("at 5ms: remove a anyrdma0\n"), judge_of_instants(3ms, 9ms, runs));

  ASSERT_TRUE(found.faults[0].window);
  const Window& window = *found.faults[0].window;
  constexpr verbs::Duration kSlack = 10us;
  EXPECT_GE(window.first, 3ms);
  EXPECT_LE(window.first, 3ms + kSlack);
  EXPECT_LE(window.last, 9ms);
  EXPECT_GE(window.last, 9ms - kSlack);
  ASSERT_TRUE(window.before && window.after);
  EXPECT_LT(*window.before, 3ms);
  EXPECT_GE(*window.before, 3ms - kSlack);
  EXPECT_GT(*window.after, 9ms);
  EXPECT_LE(*window.after, 9ms + kSlack);
  EXPECT_LT(runs, 60u);
}

TEST(Explain, AFaultThatFailsFromTheBeginningToTheEndHasNoPassingInstants) {
  std::size_t runs = 0;
  const Explanation found =
      explain(with_fault("at 5ms: remove a anyrdma0\n"), judge_of_instants(0ms, 1s, runs));

  ASSERT_TRUE(found.faults[0].window);
  const Window& window = *found.faults[0].window;
  EXPECT_EQ(window.first, 0ms);
  EXPECT_EQ(window.last, 20ms);
  EXPECT_FALSE(window.before);
  EXPECT_FALSE(window.after);
}

TEST(Explain, TheMemoryOrderIsNeededOnlyIfStrictMemoryPasses) {
  for (const bool needed : {true, false}) {
    Model model({"ab", "xy"}, [&](const std::string&, const Trial& trial) {
      return !needed || trial.memory.profile != MemoryProfile::kStrict;
    });
    Trial trial = given({});
    trial.memory.profile = MemoryProfile::kSpec;

    const Explanation found = explain(trial, model.judge());

    ASSERT_TRUE(found.memory);
    EXPECT_EQ(found.memory->needed, needed);
  }
}

/// The choices that this trial makes, as its run reports them.
std::vector<Deviation> memory_of(const Trial& trial) {
  if (trial.memory.profile == MemoryProfile::kStrict) return {};
  if (trial.memory.given) return *trial.memory.given;
  std::vector<Deviation> all;
  for (std::uint64_t point = 2; point < 90; point += 3) all.push_back({point, 1});
  return all;
}

TEST(Explain, TheChoiceOfMemoryThatTurnsTheVerdictIsFound) {
  for (const std::uint64_t guilty : {2u, 5u, 44u, 89u}) {
    // Two choices are needed.
    const auto fails = [&](const Trial& trial) {
      const auto made = memory_of(trial);
      return std::ranges::find(made, Deviation{2, 1}) != made.end() &&
             std::ranges::find(made, Deviation{guilty, 1}) != made.end();
    };
    const Judge judge = [&](const std::vector<Probe>& probes) {
      std::vector<Answer> answers(probes.size());
      for (std::size_t i = 0; i < probes.size(); ++i) {
        answers[i].outcome.memory = memory_of(probes[i].trial);
        if (fails(probes[i].trial)) answers[i].outcome.problem = "it fails\n";
      }
      return answers;
    };
    Trial trial = given({});
    trial.memory.profile = MemoryProfile::kSpec;

    const Explanation found = explain(trial, judge);

    ASSERT_TRUE(found.memory_turn) << guilty;
    EXPECT_EQ(found.memory_turn->choice, guilty);
    EXPECT_TRUE(fails(found.memory_turn->fails));
    EXPECT_FALSE(fails(found.memory_turn->passes));
    EXPECT_EQ(memory_of(found.memory_turn->fails).size(),
              1 + memory_of(found.memory_turn->passes).size());
  }
}

TEST(Explain, TheCurveRisesWhereTheFailureIsDecided) {
  // From the failing run's 40th step on, nothing can prevent the failure.
  const std::string before(40, '.');
  const std::string after(60, '.');
  Model model({before + "a" + after, before + "x" + after},
              [](const std::string& word, const Trial&) { return word.find('x') == 40; });

  const Explanation found = explain(given({{0, 1}}), model.judge());

  ASSERT_TRUE(found.curve);
  const Curve& curve = *found.curve;
  ASSERT_LT(curve.jump + 1, curve.points.size());
  EXPECT_EQ(curve.points[curve.jump + 1].share(), 1);
  EXPECT_LE(curve.points[curve.jump].decision, 40u);
  EXPECT_GE(curve.points[curve.jump + 1].decision, 38u);
  EXPECT_LE(curve.points[curve.jump + 1].decision, 41u);
  EXPECT_TRUE(std::ranges::is_sorted(curve.points, {}, &CurvePoint::decision));
}

TEST(Explain, WhateverTheBudgetTheSearchEndsAndSaysSo) {
  const auto fails = [](const std::string& word, const Trial&) {
    return comes_before(word, 'z', 'd');
  };
  Model whole({"abcd", "xyz"}, fails);
  (void)explain(given({{1, 1}}), whole.judge());
  for (std::size_t runs = 0; runs < whole.runs; ++runs) {
    Model model({"abcd", "xyz"}, fails);
    model.runs_max = runs;

    const Explanation found = explain(given({{1, 1}}), model.judge());

    EXPECT_TRUE(found.out_of_time) << runs;
  }
}

TEST(Explain, AnyRaceOfThreeThreadsLeadsToNeighboursThatTurnTheVerdict) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, "race");
    const std::string letters = "abcdefghijklmnopqrstu";
    std::vector<std::string> threads{letters.substr(0, 7), letters.substr(7, 7),
                                     letters.substr(14, 7)};
    std::vector<char> four;
    for (int i = 0; i < 4; ++i) four.push_back(letters[random.below(letters.size())]);
    const auto fails = [&](const std::string& word, const Trial&) {
      return comes_before(word, four[0], four[1]) && comes_before(word, four[2], four[3]);
    };
    Model model(threads, fails);
    std::vector<Deviation> choices;
    for (std::uint64_t point = 0; point < 19; ++point) {
      if (const auto choice = random.below(3); choice != 0)
        choices.push_back({point, static_cast<std::uint32_t>(choice)});
    }
    const Explanation found = explain(given(choices), model.judge());
    if (!found.pair) continue;

    const std::string failing = model.word_of(found.pair->fails);
    const std::string passing = model.word_of(found.pair->passes);
    const std::size_t step = found.pair->step;
    EXPECT_TRUE(fails(failing, {})) << seed;
    EXPECT_FALSE(fails(passing, {})) << seed;
    EXPECT_EQ(failing.substr(0, step), passing.substr(0, step)) << seed;
    EXPECT_EQ(failing[step], passing[step + 1]) << seed;
    EXPECT_EQ(failing[step + 1], passing[step]) << seed;
  }
}

TEST(Explain, TheSameJudgeLeadsToTheSameExplanation) {
  const auto words = [] {
    Model model({"abcdefgh", "stuvwxyz"},
                [](const std::string& word, const Trial&) { return comes_before(word, 'v', 'e'); });
    const Explanation found = explain(given({{1, 1}}), model.judge());
    return model.word_of(found.pair->fails) + model.word_of(found.pair->passes) +
           std::to_string(model.runs);
  };

  EXPECT_EQ(words(), words());
}

}  // namespace
}  // namespace anyrdma::sim::explain
