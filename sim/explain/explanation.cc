#include "sim/explain/explanation.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "sim/explain/bisect.h"
#include "sim/explain/ends.h"
#include "sim/explain/fork.h"
#include "sim/explain/patience.h"

namespace anyrdma::sim::explain {
namespace {

class Search {
 public:
  Search(const Trial& trial, const Judge& judge, const CurveOptions& curve)
      : patience_(judge),
        judge_([this](const std::vector<Probe>& probes) {
          auto answers = patience_.judge(probes);
          over_ |= answers.size() < probes.size();
          return answers;
        }),
        curve_options_(curve) {
    found_.trial = trial;
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  Explanation run() {
    search();
    found_.out_of_time = over_;
    return std::move(found_);
  }

 private:
  void search() {
    const auto given = judge_({{.trial = found_.trial}});
    if (over_) return;
    found_.choices = given.front().outcome.choices;
    found_.fails = given.front().fails();
    found_.problem = given.front().outcome.problem;
    if (!found_.fails) return;
    found_.written = with_choices(found_.trial, given.front().outcome.deviations);
    look_at_conditions();
    const auto written = judge_({{.trial = found_.written, .keeps_steps = true}});
    if (over_) return;
    if (!written.front().fails()) {
      found_.no_pair = "the run passes if its scheduling decisions are repeated one by one";
      return;
    }
    found_.curve = begin_curve(found_.written, written.front(), judge_, curve_options_);
    if (!over_) search_pair();
    if (!over_ && !found_.pair && patience_.has_stopped()) {  // perhaps one of them too early
      patience_.never_stop();
      found_.no_pair.clear();
      found_.curve = begin_curve(found_.written, written.front(), judge_, curve_options_);
      if (!over_) search_pair();
    }
    if (!over_ && found_.pair) found_.ends = find_ends(*found_.pair, judge_);
    if (!over_) search_memory(given.front().outcome.memory);
    if (!over_ && found_.curve->passing)  // else it rises nowhere
      complete_curve(*found_.curve, found_.written, written.front(), judge_, curve_options_);
    for (std::size_t i = 0; i < found_.faults.size() && !over_; ++i) search_window(i);
  }

  /// Leaves out each fault, and the memory order. Without one of them, a random schedule becomes
  /// another one, so the same scheduling choices are tried, too.
  void look_at_conditions() {
    std::vector<Probe> probes;
    const auto add = [&](std::string text, const std::function<void(Trial&)>& leave_out) {
      Condition condition{.text = std::move(text), .without = found_.trial};
      Trial same = found_.written;
      leave_out(condition.without);
      leave_out(same);
      probes.push_back({.trial = condition.without});
      probes.push_back({.trial = std::move(same)});
      return condition;
    };
    const std::vector<Fault>& faults = found_.trial.plan.faults;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      found_.faults.push_back(add(to_string(faults[i]), [i](Trial& trial) {
        std::vector<Fault>& all = trial.plan.faults;
        all.erase(std::next(all.begin(), static_cast<std::ptrdiff_t>(i)));
      }));
    }
    if (found_.trial.memory.profile != MemoryProfile::kStrict) {
      found_.memory = add(std::string(verbs::soft::to_string(found_.trial.memory.profile)),
                          [](Trial& trial) { trial.memory = {}; });
    }
    if (probes.empty()) return;
    const auto answers = judge_(probes);
    if (over_) return;
    const auto passes = [&](std::size_t condition) {
      return !answers[2 * condition].fails() && !answers[2 * condition + 1].fails();
    };
    for (std::size_t i = 0; i < faults.size(); ++i) found_.faults[i].needed = passes(i);
    if (found_.memory) found_.memory->needed = passes(faults.size());
  }

  /// `made`: the choices of the failing run.
  void search_memory(const std::vector<Deviation>& made) {
    if (!found_.memory || !found_.memory->needed || made.empty()) return;
    const auto with = [&](std::size_t count) {
      Trial trial = found_.written;
      if (count == 0) {
        trial.memory = {};
      } else {
        trial.memory.given.emplace(made.begin(),
                                   std::next(made.begin(), static_cast<std::ptrdiff_t>(count)));
      }
      return trial;
    };
    const auto part = [&](std::size_t passes, std::size_t fails) {
      const auto both = judge_({{.trial = with(passes)}, {.trial = with(fails)}});
      return !over_ && !both[0].fails() && both[1].fails();
    };
    if (!part(0, made.size())) return;
    const auto last = bisect(0, made.size(), false, [&](const std::vector<std::size_t>& counts) {
      std::vector<Probe> probes;
      for (const std::size_t count : counts)
        probes.push_back({.trial = with(count), .parts = verbs::Duration::zero()});
      std::vector<bool> verdicts;
      for (const Answer& each : judge_(probes)) verdicts.push_back(each.fails());
      return verdicts;
    });
    if (!last || !part(*last, *last + 1)) return;
    found_.memory_turn =
        MemoryTurn{.choice = made[*last].point, .fails = with(*last + 1), .passes = with(*last)};
  }

  void search_window(std::size_t number) {
    Condition& fault = found_.faults[number];
    if (!fault.needed || !has_instant(found_.trial.plan.faults[number])) return;
    const auto without = judge_({{.trial = with_choices(fault.without, {}), .keeps_steps = true}});
    if (over_ || without.front().steps.empty()) return;
    fault.window = find_window(found_.trial, number, without.front().steps.back().time, judge_);
  }

  /// As late in the failing run as a run could still pass: earlier exchanges turn the verdict only
  /// by what follows from them.
  void search_pair() {
    const std::optional<Curve::Passing>& passing = found_.curve->passing;
    const std::uint64_t from = passing ? passing->from : 0;
    // The other seeds of the passing run may matter, or only its choices.
    for (const bool branched : {false, true}) {
      if (branched && !passing) break;
      Trial trial = found_.written;
      if (branched) trial.schedule.branches = passing->branches;
      if (const auto fork = fork_of(trial, from); fork || over_) {
        if (!over_) found_.pair = find_pair(*fork, judge_);
        if (!found_.pair && !over_)
          found_.no_pair = "the failing run and the passing one do not part at a decision";
        return;
      }
    }
    found_.no_pair = passing ? "it depends on random values, and not on the order of steps"
                             : "it fails in every order that was tried";
  }

  /// `from`: the decision up to which the runs are the same.
  [[nodiscard]] std::optional<Fork> fork_of(const Trial& trial, std::uint64_t from) {
    const std::vector<Deviation>& failing = found_.written.schedule.deviations;
    const std::vector<Deviation> common = choices_before(failing, from);
    const std::vector<Deviation> passing =
        found_.curve->passing ? found_.curve->passing->choices : common;
    const verbs::Duration parts =
        found_.curve->passing ? found_.curve->passing->time : verbs::Duration::zero();
    const auto begins = judge_({{.trial = with_choices(trial, common), .parts = parts}});
    if (over_) return std::nullopt;
    const bool fails = begins.front().fails();
    const std::vector<Deviation>& turning = fails ? passing : failing;
    if (Trial other = with_choices(trial, turning); other != found_.written) {
      const auto answers = judge_({{.trial = std::move(other)}});
      if (over_ || answers.front().fails() == fails) return std::nullopt;
    }
    return find_fork(trial, turning, common.size(), fails, parts, judge_);
  }

  Patience patience_;
  const Judge judge_;
  const CurveOptions& curve_options_;
  Explanation found_;
  bool over_ = false;
};

}  // namespace

Explanation explain(const Trial& trial, const Judge& judge, const CurveOptions& curve) {
  return Search(trial, judge, curve).run();
}

}  // namespace anyrdma::sim::explain
