#include "sim/explain/pair.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/explain/bisect.h"

namespace anyrdma::sim::explain {
namespace {

using Movers = std::vector<std::uint64_t>;

Movers movers_from(const std::vector<Step>& steps, std::size_t begin) {
  Movers movers;
  for (std::size_t i = begin; i < steps.size(); ++i) movers.push_back(steps[i].mover);
  return movers;
}

std::size_t place_of(const Movers& movers, std::uint64_t mover) {
  return static_cast<std::size_t>(std::ranges::find(movers, mover) - movers.begin());
}

Movers first_of(const Movers& movers, std::size_t count) {
  return {movers.begin(), movers.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Leaves out the first occurrence of each of the others.
Movers without(Movers movers, const Movers& others) {
  std::unordered_map<std::uint64_t, std::size_t> left_out;
  for (const std::uint64_t each : others) ++left_out[each];
  std::erase_if(movers, [&](std::uint64_t each) {
    const auto found = left_out.find(each);
    if (found == left_out.end() || found->second == 0) return false;
    --found->second;
    return true;
  });
  return movers;
}

class PairSearch {
 public:
  PairSearch(const Trial& common, const Judge& judge) : judge_(judge), trial_(common) {}

  std::optional<CriticalPair> run(const Fork& fork) {
    const auto both = judge_({{.trial = fork.failing(), .keeps_steps = true},
                              {.trial = fork.passing(), .keeps_steps = true}});
    if (both.size() < 2 || !part(both[0], both[1])) return std::nullopt;
    CriticalPair at_fork = pair_of(both[0], both[1]);
    if (at_fork.first == at_fork.second) return at_fork;  // two timers that are not told apart
    auto found = between(both[0].steps, both[1].steps);
    if (over_) return std::nullopt;
    return found ? found : at_fork;
  }

  std::optional<CriticalPair> between(const std::vector<Step>& failing,
                                      const std::vector<Step>& passing) {
    begin_ = in_common(failing, passing);
    if (begin_ == failing.size() || begin_ == passing.size()) return std::nullopt;
    parts_ = failing[begin_].time;
    return search(movers_from(failing, begin_), movers_from(passing, begin_));
  }

 private:
  /// Whether a run fails, the other one passes, and they part at a step.
  [[nodiscard]] static bool part(const Answer& fails, const Answer& passes) {
    const std::size_t step = in_common(fails.steps, passes.steps);
    return fails.fails() && !passes.fails() && step < fails.steps.size() &&
           step < passes.steps.size();
  }

  /// Of two complete runs, whose choices repeat them.
  [[nodiscard]] CriticalPair pair_of(const Answer& fails, const Answer& passes) const {
    const std::size_t step = in_common(fails.steps, passes.steps);
    const Step& first = fails.steps[step];
    return {.fails = with_choices(trial_, fails.outcome.deviations),
            .passes = with_choices(trial_, passes.outcome.deviations),
            .step = step,
            .point = first.point,
            .first = first.mover,
            .second = passes.steps[step].mover,
            .time = first.time};
  }

  [[nodiscard]] Probe probe(Movers script, bool keeps_steps = false) const {
    return {.trial = trial_,
            .script = std::move(script),
            .script_from = begin_,
            .parts = parts_,
            .keeps_steps = keeps_steps};
  }

  template <class ScriptOf>
  [[nodiscard]] std::optional<std::size_t> turn(std::size_t count, bool fails_at_none,
                                                const ScriptOf& script_of) {
    const auto found =
        bisect(0, count, fails_at_none, [&](const std::vector<std::size_t>& numbers) {
          std::vector<Probe> probes;
          for (const std::size_t number : numbers) probes.push_back(probe(script_of(number)));
          std::vector<bool> verdicts;
          for (const Answer& each : judge_(probes)) verdicts.push_back(each.fails());
          return verdicts;
        });
    over_ = !found;
    return found;
  }

  /// Both from the fork on.
  [[nodiscard]] std::optional<CriticalPair> search(const Movers& failing, const Movers& passing) {
    // The first steps of the failing run, then the others in the order of the passing run.
    const auto ahead = [&](std::size_t count) {
      Movers script = first_of(failing, count);
      const Movers rest = without(passing, script);
      script.insert(script.end(), rest.begin(), rest.end());
      return script;
    };
    const auto kept = turn(failing.size(), false, ahead);
    if (!kept) return std::nullopt;
    const Movers common = first_of(failing, *kept);
    const std::uint64_t early = failing[*kept];
    const Movers rest = without(passing, common);
    // The next step of the failing run comes behind more and more of these.
    const auto behind = [&](std::size_t count) {
      Movers script = common;
      const Movers before = first_of(rest, count);
      script.insert(script.end(), before.begin(), before.end());
      script.push_back(early);
      Movers both = before;
      both.push_back(early);
      const Movers after = without(rest, both);
      script.insert(script.end(), after.begin(), after.end());
      return script;
    };
    const auto before = turn(place_of(rest, early), true, behind);
    if (!before) return std::nullopt;
    return confirmed(behind(*before), behind(*before + 1));
  }

  /// Both as complete trials, whose runs are made once more without a script.
  [[nodiscard]] std::optional<CriticalPair> confirmed(Movers fails, Movers passes) {
    // Of a run that is stopped, later choices are the default ones.
    const auto both = judge_({probe(std::move(fails)), probe(std::move(passes))});
    if (both.size() < 2) return over();
    const auto again =
        judge_({{.trial = with_choices(trial_, both[0].outcome.deviations), .keeps_steps = true},
                {.trial = with_choices(trial_, both[1].outcome.deviations), .keeps_steps = true}});
    if (again.size() < 2) return over();
    if (!part(again[0], again[1])) return std::nullopt;
    return pair_of(again[0], again[1]);
  }

  [[nodiscard]] std::nullopt_t over() {
    over_ = true;
    return std::nullopt;
  }

  const Judge& judge_;
  const Trial& trial_;  ///< up to where the runs part
  std::size_t begin_ = 0;
  verbs::Duration parts_{};  ///< the virtual time of the step that begin_ counts to
  bool over_ = false;
};

}  // namespace

std::size_t in_common(const std::vector<Step>& one, const std::vector<Step>& other) {
  const std::size_t size = std::min(one.size(), other.size());
  std::size_t i = 0;
  while (i < size && one[i] == other[i]) ++i;
  return i;
}

std::optional<CriticalPair> find_pair(const Fork& fork, const Judge& judge) {
  return PairSearch(fork.common, judge).run(fork);
}

std::optional<CriticalPair> find_pair_between(const Trial& common, const std::vector<Step>& failing,
                                              const std::vector<Step>& passing,
                                              const Judge& judge) {
  return PairSearch(common, judge).between(failing, passing);
}

}  // namespace anyrdma::sim::explain
